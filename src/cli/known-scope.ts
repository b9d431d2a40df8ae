import { unknownEnvironmentText } from '../model/environment.js'
import { didYouMean } from '../model/text.js'
import type { TrackerInstance } from '../tracker.js'
import type { ErrorsListInput } from '../triage/list/errors-list.js'
import { usageError } from './arguments.js'
import { escapeText } from './io/terminal.js'

/** Adds the id of the named application, and rejects an environment that no error has. */
export async function withKnownScope(
  filter: ErrorsListInput,
  application_name: string | undefined,
  { Applications, Environments }: TrackerInstance['Queries'],
): Promise<ErrorsListInput> {
  const found = application_name === undefined ? filter : await withApplication(filter, application_name, Applications)
  const environment = found.environment?.trim()
  if (!environment) return found
  const known = await Environments.call({ application_id: found.application_id })
  const problem = unknownEnvironmentText(environment, known)
  if (problem) throw usageError(escapeText(problem))
  return found
}

async function withApplication(
  filter: ErrorsListInput,
  name: string,
  query: TrackerInstance['Queries']['Applications'],
): Promise<ErrorsListInput> {
  const applications = await query.call()
  const found = applications.find((application) => application.name === name)
  if (found) return { ...filter, application_id: found.id }
  const names = applications.map((application) => escapeText(application.name))
  throw usageError(`No application "${name}" has recorded an error here${didYouMean(name, names)}`)
}

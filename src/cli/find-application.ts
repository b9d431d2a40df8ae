import { didYouMean } from '../model/text.js'
import type { TrackerInstance } from '../tracker.js'
import { usageError } from './arguments.js'
import { escapeText } from './io/terminal.js'

/** Returns the id of an application that has recorded an error. */
export async function findApplicationId(
  name: string,
  { Applications }: Pick<TrackerInstance['Queries'], 'Applications'>,
): Promise<number> {
  const applications = await Applications.call()
  const found = applications.find((application) => application.name === name)
  if (found) return found.id
  const names = applications.map((application) => escapeText(application.name))
  throw usageError(`No application "${name}" has recorded an error here${didYouMean(name, names)}`)
}

import type { TrackerInstance } from '../../src/tracker.js'
import type { ErrorRecord, OccurrenceBreadcrumb } from '../../src/triage/queries/error-record.js'

/** Returns the records of all errors with this message. */
export async function recordsWithMessage(tracker: TrackerInstance, message: string): Promise<ErrorRecord[]> {
  await tracker.flush()
  const found = (await tracker.Queries.ErrorsList.call()).filter((error) => error.message === message)
  return Promise.all(found.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
}

let recordedCount = 0

/** Records an error with a unique type and returns its breadcrumbs. */
export async function recordedBreadcrumbs(tracker: TrackerInstance): Promise<OccurrenceBreadcrumb[]> {
  const logged = await tracker.Commands.LogError.call({
    exception: new Error('here'),
    error_type: `End${recordedCount++}`,
  })
  if (!logged?.id) throw new Error('the error was not recorded')
  const { breadcrumbs } = await tracker.Queries.FindError.call({ error_id: logged.id })
  return breadcrumbs
}

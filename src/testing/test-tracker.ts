import { createTracker, type ErrorRecord, type Settings, Tracker } from '../index.js'
import { toCanonicalSettings } from '../options.js'

type TrackerInstance = typeof Tracker

/** A tracker for the tests of an application. It records in memory, and never in the database of a developer. */
export function createTestTracker(settings: Settings = {}): TrackerInstance {
  return createTracker({ database: 'sqlite::memory:', run_jobs: false, ...toCanonicalSettings(settings) })
}

/** Maximum page size of the list. A test that records more errors can query them itself. */
const MAX_ERRORS = 100

/**
 * Errors that a tracker has recorded, in order of their first occurrence, each with its newest occurrence.
 *
 * @example
 * const [error] = await recordedErrors(tracker)
 * assert.equal(error.message, 'Payment rejected')
 */
export async function recordedErrors(tracker: TrackerInstance = Tracker): Promise<ErrorRecord[]> {
  await tracker.flush()
  const { errors } = await tracker.Queries.ErrorsList.page({ per_page: MAX_ERRORS })
  const ids = errors.map(({ id }) => id).sort((a, b) => a - b)
  return Promise.all(ids.map((error_id) => tracker.Queries.FindError.call({ error_id })))
}

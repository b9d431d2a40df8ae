import type { LogErrorInput } from '../capture/fields.js'
import { guarded } from '../capture/guarded.js'
import type { Reporter } from '../capture/sources/source.js'
import type { TrackerInstance } from '../tracker.js'

/** What is known of a job that failed, whichever queue it came from. */
export interface JobFacts {
  queue: string
  name?: string | undefined
  ids: readonly unknown[]
  attempt?: number | undefined
  max_attempts?: number | undefined
  /** Unknown where the queue does not tell its workers. */
  will_retry?: boolean | undefined
  data: unknown
}

/** A failed job as a report: one that is tried again is handled, the last attempt is not. */
export function jobReport(source: string, { ids, ...facts }: JobFacts): Omit<LogErrorInput, 'exception'> {
  return {
    source,
    unhandled: facts.will_retry === false,
    tags: { queue: facts.queue, ...(facts.name === undefined ? {} : { job: facts.name }) },
    context: { job: { ...facts, ...(ids.length === 1 ? { id: ids[0] } : { ids }) } },
  }
}

type InScope = (work: () => Promise<unknown>, record: (reporter: Reporter, error: unknown) => void) => Promise<unknown>

/**
 * Runs jobs in scopes of their own and lets a failure be recorded from inside it; the failure goes on unchanged. Once
 * the tracker is shut down, jobs run as if it were not there.
 */
export function jobScope(tracker: TrackerInstance, source: string): InScope {
  let reporter: Reporter | null = null
  tracker.start().attach((given) => {
    reporter = given
    return () => {
      reporter = null
    }
  })
  return async (work, record) => {
    if (!reporter) return work()
    return reporter.context.scopes.run(async () => {
      try {
        return await work()
      } catch (error) {
        if (reporter) guarded(reporter.context.counters, source, record)(reporter, error)
        throw error
      }
    })
  }
}

import type { LogErrorInput } from '../capture/fields.js'
import { guarded } from '../capture/guarded.js'
import type { Reporter } from '../capture/sources/source.js'
import type { TrackerInstance } from '../tracker.js'

/** Description of a failed job, independent of the queue library. */
export interface JobFacts {
  queue: string
  name?: string | undefined
  ids: readonly unknown[]
  attempt?: number | undefined
  max_attempts?: number | undefined
  /** Undefined if the queue does not provide it. */
  will_retry?: boolean | undefined
  data: unknown
}

/** Report for a failed job: handled if it will be retried, unhandled for the last attempt. */
export function jobReport(source: string, { ids, ...facts }: JobFacts): Omit<LogErrorInput, 'exception'> {
  return {
    source,
    unhandled: facts.will_retry === false,
    tags: { queue: facts.queue, ...(facts.name === undefined ? {} : { job: facts.name }) },
    context: { job: { ...facts, ...(ids.length === 1 ? { id: ids[0] } : { ids }) } },
  }
}

type RunInScope = (
  work: () => Promise<unknown>,
  record: (reporter: Reporter, error: unknown) => void,
) => Promise<unknown>

/**
 * Runs jobs in their own scopes and records failures inside them; failures are rethrown unchanged. After a shutdown,
 * jobs run without a scope.
 */
export function createJobScope(tracker: TrackerInstance, source: string): RunInScope {
  let reporter: Reporter | null = null
  tracker.start().attach((attachedReporter) => {
    reporter = attachedReporter
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

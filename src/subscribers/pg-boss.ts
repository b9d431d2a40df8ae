import type { Reporter } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { jobReport, jobScope } from './job-failure.js'

/** The part of a job of pg-boss that is recorded; the counts are there with `includeMetadata` only. */
export interface BossJob {
  id: string
  name: string
  data: unknown
  retryCount?: number
  retryLimit?: number
}

/**
 * A handler for `boss.work` that runs in a scope of its own and records what it throws, with the queue, the ids and the
 * data of its jobs. The error goes on unchanged, so pg-boss fails and retries the jobs as before. Governed by
 * `enable_error_subscriber`.
 *
 * @example
 * await boss.work('mail', withFaultboard(async ([job]) => send(job.data)))
 */
export function withFaultboard<Handler extends (jobs: never) => Promise<unknown>>(
  handler: Handler,
  tracker: TrackerInstance = Tracker,
): Handler {
  const inScope = jobScope(tracker, 'pg-boss')
  const run = (jobs: never): Promise<unknown> =>
    inScope(
      async () => handler(jobs),
      (reporter, error) => recordFailure(reporter, error, jobs),
    )
  return run as Handler
}

function recordFailure({ context: { config }, report }: Reporter, error: unknown, jobs: readonly BossJob[]): void {
  if (!config.enable_error_subscriber) return
  const [first] = jobs
  const { retryCount, retryLimit } = first ?? {}
  const has_counts = jobs.length === 1 && retryCount !== undefined && retryLimit !== undefined
  const facts = {
    queue: first?.name ?? '',
    ids: jobs.map(({ id }) => id),
    data: jobs.length === 1 ? first?.data : jobs.map(({ data }) => data),
    ...(has_counts
      ? { attempt: retryCount + 1, max_attempts: retryLimit + 1, will_retry: retryCount < retryLimit }
      : {}),
  }
  report(error, jobReport('pg-boss', facts), jobs)
}

import type { Reporter } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { createJobScope, jobReport } from './job-failure.js'

/** Subset of a pg-boss job that is recorded. The counts require `includeMetadata`. */
export interface BossJob {
  id: string
  name: string
  data: unknown
  retryCount?: number
  retryLimit?: number
}

/**
 * Handler for `boss.work` that runs in its own scope and records errors with the queue, ids and data of its jobs.
 * Errors are rethrown unchanged, so pg-boss fails and retries the jobs as before. Controlled by
 * `enable_error_subscriber`.
 * @example await boss.work('mail', withFaultboard(async ([job]) => send(job.data)))
 */
export function withFaultboard<Handler extends (jobs: never) => Promise<unknown>>(
  handler: Handler,
  tracker: TrackerInstance = Tracker,
): Handler {
  const inScope = createJobScope(tracker, 'pg-boss')
  const run = (jobs: never): Promise<unknown> =>
    inScope(
      async () => handler(jobs),
      (reporter, error) => recordFailure(reporter, error, jobs),
    )
  return run as Handler
}

function recordFailure(
  { context: { config }, report }: Reporter,
  error: unknown,
  received: readonly BossJob[] | BossJob,
): void {
  if (!config.enable_error_subscriber) return
  // pg-boss 9 passes one job instead of a list.
  const jobs = Array.isArray(received) ? (received as readonly BossJob[]) : [received as BossJob]
  const [firstJob] = jobs
  const { retryCount, retryLimit } = firstJob ?? {}
  const hasCounts = jobs.length === 1 && retryCount !== undefined && retryLimit !== undefined
  const facts = {
    queue: firstJob?.name ?? '',
    ids: jobs.map(({ id }) => id),
    data: jobs.length === 1 ? firstJob?.data : jobs.map(({ data }) => data),
    ...(hasCounts
      ? { attempt: retryCount + 1, max_attempts: retryLimit + 1, will_retry: retryCount < retryLimit }
      : {}),
  }
  report(error, jobReport('pg-boss', facts), jobs)
}

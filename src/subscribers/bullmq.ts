import type { EventEmitter } from 'node:events'
import { guarded } from '../capture/guarded.js'
import type { Reporter, Source } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { jobReport, jobScope } from './job-failure.js'

/** The part of BullMQ's Job that is recorded. */
export interface BullJob {
  id?: string | undefined
  name: string
  queueName: string
  data: unknown
  /** Attempts that have ended. */
  attemptsMade: number
  finishedOn?: number | undefined
  opts: { attempts?: number | undefined }
}

export type BullWorker = Pick<EventEmitter, 'on' | 'off'> & { readonly name: string }

/**
 * Records the failed jobs of a worker, each attempt once, with queue, name, id, attempt and data. It listens to `failed`
 * alone, so errors of the worker itself go where they went. Sandboxed processors are covered, too. Gives the function
 * that ends it; `Tracker.shutdown()` does it, too. Governed by `enable_error_subscriber`.
 *
 * @example
 * subscribeToWorker(new Worker('mail', sendMail, { connection }))
 */
export function subscribeToWorker(worker: BullWorker, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(failedJobs(worker))
}

/**
 * A processor that runs each job in a scope of its own, and records a failure from inside it: with the breadcrumbs, tags
 * and context of the job. What it throws goes on unchanged. Where `subscribeToWorker` is used as well, a failure is
 * still recorded once.
 *
 * @example
 * new Worker('mail', withFaultboard(async (job) => send(job.data)), { connection })
 */
export function withFaultboard<Processor extends (job: never, ...rest: never[]) => Promise<unknown>>(
  processor: Processor,
  tracker: TrackerInstance = Tracker,
): Processor {
  const inScope = jobScope(tracker, 'bullmq')
  const run = (job: never, ...rest: never[]): Promise<unknown> =>
    inScope(
      async () => processor(job, ...rest),
      (reporter, error) => {
        if (!isControl(error)) recordFailure(reporter, error, job, 1)
      },
    )
  // BullMQ hands an AbortSignal only to a processor that takes three arguments.
  Object.defineProperty(run, 'length', { value: processor.length, configurable: true })
  return run as Processor
}

function failedJobs(worker: BullWorker): Source {
  return (reporter) => {
    // What a listener throws, BullMQ would take for a failure of its own.
    const onFailed = guarded(reporter.context.counters, 'bullmq', (job: BullJob | undefined, error: unknown) =>
      recordFailure(reporter, error, job, 0, worker.name),
    )
    worker.on('failed', onFailed)
    return () => void worker.off('failed', onFailed)
  }
}

/** Errors by which a processor tells BullMQ to try the job later. */
function isControl(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['DelayedError', 'WaitingError', 'WaitingChildrenError', 'RateLimitError'].includes(error.name)
}

/** `under_way` is 1 while the attempt is not counted yet. */
function recordFailure(
  { context: { config }, report }: Reporter,
  error: unknown,
  job: BullJob | undefined,
  under_way: 0 | 1,
  queue = job?.queueName ?? '',
): void {
  if (!config.enable_error_subscriber) return
  if (!job) {
    // A job that was removed meanwhile is not handed to the listeners.
    report(error, jobReport('bullmq', { queue, ids: [], data: undefined }))
    return
  }
  const attempt = job.attemptsMade + under_way
  const max_attempts = job.opts.attempts ?? 1
  const is_last = under_way === 0 ? job.finishedOn !== undefined : isUnrecoverable(error) || attempt >= max_attempts
  const facts = { queue, name: job.name, ids: [job.id], attempt, max_attempts, will_retry: !is_last, data: job.data }
  report(error, jobReport('bullmq', facts), job)
}

function isUnrecoverable(error: unknown): boolean {
  return error instanceof Error && error.name === 'UnrecoverableError'
}

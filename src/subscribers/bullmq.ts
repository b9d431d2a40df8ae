import type { EventEmitter } from 'node:events'
import { guarded } from '../capture/guarded.js'
import type { Reporter, Source } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { createJobScope, jobReport } from './job-failure.js'

/** Subset of BullMQ's Job that is recorded. */
export interface BullJob {
  id?: string | undefined
  name: string
  queueName: string
  data: unknown
  /** Completed attempts. */
  attemptsMade: number
  finishedOn?: number | undefined
  opts: { attempts?: number | undefined }
}

export type BullWorker = Pick<EventEmitter, 'on' | 'off'> & { readonly name: string }

/**
 * Records failed jobs of a worker, once per attempt, with queue, name, id, attempt and data. Listens only to `failed`,
 * so errors of the worker itself are not affected. Covers sandboxed processors. Returns a function that
 * unsubscribes; `Tracker.shutdown()` unsubscribes too. Controlled by `enable_error_subscriber`.
 * @example subscribeToWorker(new Worker('mail', sendMail, { connection }))
 */
export function subscribeToWorker(worker: BullWorker, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(failedJobSource(worker))
}

/**
 * Wraps a processor: runs each job in its own scope and records failures with the breadcrumbs, tags and context of the
 * job. Errors are rethrown unchanged. Together with `subscribeToWorker`, a failure is still recorded once.
 * @example new Worker('mail', withFaultboard(async (job) => send(job.data)), { connection })
 */
export function withFaultboard<Processor extends (job: never, ...rest: never[]) => Promise<unknown>>(
  processor: Processor,
  tracker: TrackerInstance = Tracker,
): Processor {
  const inScope = createJobScope(tracker, 'bullmq')
  const run = (job: never, ...rest: never[]): Promise<unknown> =>
    inScope(
      async () => processor(job, ...rest),
      (reporter, error) => {
        if (!isControlFlowError(error)) recordFailure(reporter, error, job, 1)
      },
    )
  // BullMQ passes an AbortSignal only to a processor with three parameters.
  Object.defineProperty(run, 'length', { value: processor.length, configurable: true })
  return run as Processor
}

function failedJobSource(worker: BullWorker): Source {
  return (reporter) => {
    // BullMQ would treat an error thrown by a listener as its own failure.
    const onFailed = guarded(reporter.context.counters, 'bullmq', (job: BullJob | undefined, error: unknown) =>
      recordFailure(reporter, error, job, 0, worker.name),
    )
    worker.on('failed', onFailed)
    return () => void worker.off('failed', onFailed)
  }
}

/** Detects errors that a processor throws to make BullMQ run the job again later. */
function isControlFlowError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['DelayedError', 'WaitingError', 'WaitingChildrenError', 'RateLimitError'].includes(error.name)
}

/** `uncountedAttempts` is 1 until BullMQ has counted the current attempt. */
function recordFailure(
  { context: { config }, report }: Reporter,
  error: unknown,
  job: BullJob | undefined,
  uncountedAttempts: 0 | 1,
  queue = job?.queueName ?? '',
): void {
  if (!config.enable_error_subscriber) return
  if (!job) {
    // BullMQ does not pass a removed job to its listeners.
    report(error, jobReport('bullmq', { queue, ids: [], data: undefined }))
    return
  }
  const attempt = job.attemptsMade + uncountedAttempts
  const maxAttempts = job.opts.attempts ?? 1
  const isLastAttempt =
    uncountedAttempts === 0 ? job.finishedOn !== undefined : isUnrecoverable(error) || attempt >= maxAttempts
  const facts = {
    queue,
    name: job.name,
    ids: [job.id],
    attempt,
    max_attempts: maxAttempts,
    will_retry: !isLastAttempt,
    data: job.data,
  }
  report(error, jobReport('bullmq', facts), job)
}

function isUnrecoverable(error: unknown): boolean {
  return error instanceof Error && error.name === 'UnrecoverableError'
}

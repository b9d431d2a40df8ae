import type { Context } from '../context.js'
import { MINUTE } from '../model/time.js'
import {
  type DeadLetter,
  type HandleJob,
  JOB_NAMES,
  type JobCounts,
  type JobEngine,
  type JobName,
  type NewJob,
} from './engine.js'
import { failureReason } from './reason.js'
import { retryDelay, type Timing, withEngineTimeout } from './timing.js'
import { type Claim, Worker, type WorkSource } from './worker.js'

export interface ClaimedJob {
  id: string
  name: JobName
  data: Readonly<Record<string, unknown>>
  attempt: number
  max_attempts: number
}

/** Storage of an engine. A rejection means that it is unreachable. */
export interface JobStore extends WorkSource<ClaimedJob> {
  add(jobs: readonly NewJob[]): Promise<void>
  complete(job: ClaimedJob): Promise<void>
  /** Retries the job after the delay, or never if the delay is null. */
  fail(job: ClaimedJob, reason: string, delayMs: number | null): Promise<void>
  /** Delays a job for any worker, without counting the attempt. */
  postpone(job: ClaimedJob, delayMs: number): Promise<void>
  counts(): Promise<JobCounts>
  deadLetters(limit: number): Promise<DeadLetter[]>
  close(): Promise<void>
}

/** Delay for a job that only a newer release can run: during a rollout, processes of both releases share the jobs. */
const UNKNOWN_JOB_DELAY_MS = MINUTE

/** Creates an engine on top of a store. Engines differ only in where they store jobs. */
export function createPollingEngine(
  name: JobEngine['name'],
  store: JobStore,
  parts: EngineParts,
  timing: Timing,
): JobEngine {
  const { log, random } = parts
  const worker = new Worker({ source: store, items: 'jobs', timing, log })
  const withTimeLimit = <T>(response: Promise<T>) => withEngineTimeout(response, store.title, timing)
  const runJob = async (job: ClaimedJob, { signal, isHeld }: Claim, handle: HandleJob) => {
    const { name, data, attempt, max_attempts } = job
    if (!JOB_NAMES.includes(name)) return withTimeLimit(store.postpone(job, UNKNOWN_JOB_DELAY_MS))
    let reason: string | null = null
    try {
      await handle({ name, data, attempt, signal })
    } catch (error) {
      reason = failureReason(error)
    }
    if (!isHeld()) return
    if (reason === null) return withTimeLimit(store.complete(job))
    if (signal.aborted) return withTimeLimit(store.release([job]))
    const retryDelayMs = attempt < max_attempts ? retryDelay(attempt, timing, random) : null
    await withTimeLimit(store.fail(job, reason, retryDelayMs))
    if (retryDelayMs === null) log.warn(`Job failed permanently (${name}): ${reason}`)
  }
  return {
    name,
    async add(jobs) {
      if (jobs.length === 0) return
      await withTimeLimit(store.add(jobs))
      worker.wake()
    },
    work: (handle) => worker.start((job, claim) => runJob(job, claim, handle)),
    counts: () => withTimeLimit(store.counts()),
    deadLetters: (limit) => withTimeLimit(store.deadLetters(limit)),
    async stop() {
      await worker.stop()
      await withTimeLimit(store.close()).catch(() => {})
    },
  }
}

export interface EngineParts extends Pick<Context, 'config' | 'database' | 'ready' | 'log' | 'now' | 'random'> {
  /** Shorter durations for tests. */
  timing?: Partial<Timing>
}

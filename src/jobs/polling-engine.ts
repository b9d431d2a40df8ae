import type { Context } from '../context.js'
import type { DeadLetter, JobCounts, JobEngine, NewJob } from './engine.js'
import { type Timing, withEngineTimeout } from './timing.js'
import { type JobSource, JobWorker } from './worker.js'

/** Storage of an engine, for adding and inspecting jobs. */
export interface JobStore extends JobSource {
  add(jobs: readonly NewJob[]): Promise<void>
  counts(): Promise<JobCounts>
  deadLetters(limit: number): Promise<DeadLetter[]>
  close(): Promise<void>
}

/** Creates an engine on top of a store: engines only differ in where jobs are stored. */
export function pollingEngine(name: JobEngine['name'], store: JobStore, parts: EngineParts, timing: Timing): JobEngine {
  const worker = new JobWorker({ source: store, timing, log: parts.log, random: parts.random })
  const withTimeLimit = <T>(response: Promise<T>) => withEngineTimeout(response, store.title, timing)
  return {
    name,
    async add(jobs) {
      if (jobs.length === 0) return
      await withTimeLimit(store.add(jobs))
      worker.wake()
    },
    work: (handle) => worker.start(handle),
    counts: () => withTimeLimit(store.counts()),
    deadLetters: (limit) => withTimeLimit(store.deadLetters(limit)),
    drain: () => worker.drain(),
    async stop() {
      await worker.stop()
      await withTimeLimit(store.close()).catch(() => {})
    },
  }
}

export interface EngineParts extends Pick<Context, 'config' | 'database' | 'ready' | 'log' | 'now' | 'random'> {
  /** For tests, which do not wait for a minute. */
  timing?: Partial<Timing>
}

import type { DeadLetter, JobCounts, JobEngine, NewJob } from './engine.js'
import type { EngineParts } from './engine-parts.js'
import { respondingInTime, type Timing } from './timing.js'
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
  const inTime = <T>(answer: Promise<T>) => respondingInTime(answer, store.title, timing)
  return {
    name,
    async add(jobs) {
      if (jobs.length === 0) return
      await inTime(store.add(jobs))
      worker.wake()
    },
    work: (handle) => worker.start(handle),
    counts: () => inTime(store.counts()),
    deadLetters: (limit) => inTime(store.deadLetters(limit)),
    drain: () => worker.drain(),
    async stop() {
      await worker.stop()
      await inTime(store.close()).catch(() => {})
    },
  }
}

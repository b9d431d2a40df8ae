/** What can be done beside the requests. */
export const JOB_NAMES = ['deliver', 'record', 'cleanup', 'baselines', 'cascades', 'baseline_alerts', 'digest'] as const
export type JobName = (typeof JOB_NAMES)[number]

export interface NewJob {
  name: JobName
  /** Plain data, as JSON keeps it. */
  data: Readonly<Record<string, unknown>>
  /** Of two jobs under one key, while the first is neither done nor failed for good, there is one. */
  key?: string
  /** Not before this time. */
  run_at?: number
  /** How often it is tried before it is a dead letter. */
  max_attempts?: number
}

export interface RunningJob {
  name: JobName
  data: Readonly<Record<string, unknown>>
  /** 1 for the first try. */
  attempt: number
  /** Aborted when the process has to stop and cannot wait any longer. */
  signal: AbortSignal
}

/** Does the job. When it throws, the job is tried again later; it may run twice, and has to bear it. */
export type HandleJob = (job: RunningJob) => Promise<void>

export interface JobCounts {
  waiting: number
  delayed: number
  active: number
  failed: number
}

/** A job that failed for good. */
export interface DeadLetter {
  name: string
  data: Readonly<Record<string, unknown>>
  attempts: number
  last_error: string
  failed_at: number
}

/**
 * The seam between the tracker and what carries its jobs. Every engine passes test/contract/job-engine.ts: at least
 * once, by one worker at a time, also when a worker is killed in the middle.
 */
export interface JobEngine {
  readonly name: 'embedded' | 'bullmq' | 'pg-boss'
  /** Settles when they are safe with the engine; rejects when it cannot be reached. */
  add(jobs: readonly NewJob[]): Promise<void>
  /** Begins to work. Never throws: an engine that is away is complained about once, and tried again. */
  work(handle: HandleJob): void
  counts(): Promise<JobCounts>
  /** The newest first. */
  deadLetters(limit: number): Promise<DeadLetter[]>
  /** Does what is due, as long as the grace allows, which a `stop` after it has used up then. Never rejects. */
  drain(): Promise<void>
  /** Takes no further job, waits for those at work as long as the grace allows, gives back the rest. */
  stop(): Promise<void>
}

import type { Options } from '../config/options.js'
import { ConfigurationError } from '../model/errors.js'
import type { DatabaseTarget } from '../store/database-target.js'

/** Names of the background jobs. */
export const JOB_NAMES = ['record', 'cleanup', 'baselines', 'cascades', 'baseline_alerts', 'digest'] as const
export type JobName = (typeof JOB_NAMES)[number]

export interface NewJob {
  name: JobName
  /** Plain JSON data. */
  data: Readonly<Record<string, unknown>>
  /** At most one unfinished job exists per key. */
  key?: string
  /** Earliest start time. */
  run_at?: number
  /** Attempts before the job becomes a dead letter. */
  max_attempts?: number
}

export interface RunningJob {
  name: JobName
  data: Readonly<Record<string, unknown>>
  /** 1 for the first attempt. */
  attempt: number
  /** Aborted when the process must stop and cannot wait any longer. */
  signal: AbortSignal
}

/** Runs the job. If it throws, the job is retried later. Must be idempotent, because a job can run twice. */
export type HandleJob = (job: RunningJob) => Promise<void>

export interface JobCounts {
  waiting: number
  delayed: number
  active: number
  failed: number
}

/** A job that failed permanently. */
export interface DeadLetter {
  name: string
  data: Readonly<Record<string, unknown>>
  attempts: number
  last_error: string
  failed_at: number
}

export const ENGINE_NAMES = ['embedded', 'bullmq', 'pg-boss'] as const

/**
 * Interface between the tracker and a job engine. Every engine passes test/contract/job-engine.ts: at-least-once, one
 * worker at a time, even if a worker is killed.
 */
export interface JobEngine {
  readonly name: (typeof ENGINE_NAMES)[number]
  /** Resolves when the jobs are durable; rejects if the engine is unreachable. */
  add(jobs: readonly NewJob[]): Promise<void>
  /** Starts running jobs. Never throws: an unreachable engine is logged once and retried. */
  work(handle: HandleJob): void
  counts(): Promise<JobCounts>
  /** Newest first. */
  deadLetters(limit: number): Promise<DeadLetter[]>
  /** Claims no more jobs, waits for running jobs within the grace period, and releases the rest. */
  stop(): Promise<void>
}

/** Throws a ConfigurationError if an option that the engine requires is missing. */
export function assertEngineConfigured(
  { job_engine, redis_url, job_database }: Options,
  { canHostPgBoss }: DatabaseTarget,
): void {
  if (job_engine === 'bullmq' && redis_url === null) {
    throw new ConfigurationError([
      'redis_url is missing: job_engine bullmq requires Redis, such as redis://127.0.0.1:6379',
    ])
  }
  if (job_engine === 'pg-boss' && job_database === null && !canHostPgBoss) {
    throw new ConfigurationError([
      'job_database is missing: job_engine pg-boss requires PostgreSQL, but database is not PostgreSQL; set job_database to a URL such as postgres://localhost/jobs',
    ])
  }
}

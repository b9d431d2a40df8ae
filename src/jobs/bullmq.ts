import { randomUUID } from 'node:crypto'
import { loadDriver, maskPassword } from '../store/load-driver.js'
import {
  type BullJob,
  type BullModule,
  type BullQueue,
  type BullWorker,
  JobFailure,
  type RedisModule,
} from './bullmq-types.js'
import type { JobName } from './engine.js'
import { installationId } from './installation.js'
import { openLazily } from './lazy-resource.js'
import type { ClaimedJob, EngineParts, JobStore } from './polling-engine.js'
import { MAX_ATTEMPTS, MAX_DEAD_LETTERS, type Timing } from './timing.js'

const PREFIX = 'faultboard'
const STATES = ['waiting', 'delayed', 'active', 'failed']

interface OpenQueue {
  queue: BullQueue
  worker: BullWorker
  close(): Promise<void>
}

/**
 * Jobs in Redis, with BullMQ. BullMQ's own worker would keep the host process alive with timers and a blocking
 * connection, so jobs are fetched by polling. A broken connection is replaced on next use: no reconnect timers, and
 * adding a job fails at once.
 */
export function createBullmqStore(parts: EngineParts, redisUrl: string, timing: Timing): JobStore {
  const token = randomUUID()
  const bullJobs = new WeakMap<ClaimedJob, BullJob>()
  const bullJob = (job: ClaimedJob) => bullJobs.get(job) as BullJob
  const connection = openLazily((onBroken) => connect(parts, redisUrl, timing, onBroken))

  return {
    title: maskPassword(redisUrl),
    failuresBeforeWarning: 1,

    async add(jobs) {
      const { queue } = await connection.open()
      const now = parts.now()
      await queue.addBulk(
        jobs.map(({ name, data, key, run_at, max_attempts }) => ({
          name,
          data,
          opts: {
            delay: Math.max(0, (run_at ?? now) - now),
            attempts: max_attempts ?? MAX_ATTEMPTS,
            backoff: { type: 'custom' },
            removeOnComplete: true,
            removeOnFail: { count: MAX_DEAD_LETTERS },
            ...(key === undefined ? {} : { deduplication: { id: key } }),
          },
        })),
      )
    },

    async claim(limit) {
      const { worker } = await connection.open()
      const jobs: ClaimedJob[] = []
      while (jobs.length < limit) {
        const job = await worker.getNextJob(token, { block: false })
        if (!job) break
        if (job.deferredFailure) {
          await job.moveToFailed(new JobFailure(job.deferredFailure, null), token, false)
          continue
        }
        const claimedJob = toClaimedJob(job)
        bullJobs.set(claimedJob, job)
        jobs.push(claimedJob)
      }
      return jobs
    },

    async renewLeases(jobs) {
      for (const job of jobs) await bullJob(job).extendLock(token, timing.leaseMs)
    },

    async complete(job) {
      await bullJob(job).moveToCompleted(null, token, false)
    },

    async fail(job, reason, delayMs) {
      await bullJob(job).moveToFailed(new JobFailure(reason, delayMs), token, false)
    },

    async release(jobs) {
      for (const job of jobs) await bullJob(job).moveToWait(token)
    },

    async postpone(job, delayMs) {
      await bullJob(job).moveToDelayed(parts.now() + delayMs, token)
    },

    async releaseExpired() {
      const { worker } = await connection.open()
      await worker.moveStalledJobsToWait()
    },

    async counts() {
      const { queue } = await connection.open()
      const { waiting = 0, delayed = 0, active = 0, failed = 0 } = await queue.getJobCounts(...STATES)
      return { waiting, delayed, active, failed }
    },

    async deadLetters(limit) {
      const { queue } = await connection.open()
      const jobs = await queue.getFailed(0, limit - 1)
      return jobs.map(({ name, data, attemptsMade, failedReason, finishedOn }) => ({
        name,
        data,
        attempts: attemptsMade,
        last_error: failedReason ?? '',
        failed_at: finishedOn ?? 0,
      }))
    },

    close: () => connection.close(),
  }
}

async function connect(parts: EngineParts, redisUrl: string, timing: Timing, onBroken: () => void): Promise<OpenQueue> {
  const { Queue, Worker } = await loadDriver<BullModule>('bullmq', 'job_engine bullmq')
  const Redis = await loadDriver<RedisModule>('ioredis', 'job_engine bullmq')
  const name = await installationId(parts)
  const client = new Redis(redisUrl, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    connectTimeout: timing.timeoutMs,
    retryStrategy: () => null,
  })
  // Each call reports its own failure. Without a listener, an `error` event would crash the host.
  client.on('error', () => {})
  client.on('end', onBroken)
  await client.connect()
  client.stream?.unref()
  // BullMQ duplicates the client for its blocking connection, which is never used here.
  client.duplicate = () => client
  const options = { connection: client, prefix: PREFIX, skipVersionCheck: true }
  const queue = new Queue(name, options)
  const worker = new Worker(name, null, {
    ...options,
    autorun: false,
    lockDuration: timing.leaseMs,
    stalledInterval: Math.ceil(timing.leaseMs / 4),
    maxStalledCount: MAX_ATTEMPTS - 1,
    settings: { backoffStrategy: (_attempt, _type, error) => (error instanceof JobFailure ? error.retryDelayMs : 0) },
  })
  for (const emitter of [queue, worker]) emitter.on('error', () => {})
  return { queue, worker, close: async () => client.disconnect() }
}

function toClaimedJob({ id, name, data, attemptsMade, opts }: BullJob): ClaimedJob {
  return {
    id: String(id),
    name: name as JobName,
    data,
    attempt: attemptsMade + 1,
    max_attempts: opts.attempts ?? MAX_ATTEMPTS,
  }
}

import type { Log } from '../context.js'
import { MINUTE } from '../model/time.js'
import { type HandleJob, JOB_NAMES, type JobName } from './engine.js'
import { isReportedByRecorder, reasonOf } from './reason.js'
import { CONCURRENCY, retryDelay, type Timing, withEngineTimeout } from './timing.js'

export interface ClaimedJob {
  id: string
  name: JobName
  data: Readonly<Record<string, unknown>>
  attempt: number
  max_attempts: number
}

/** Job storage of an engine. A rejection means that it is unreachable. */
export interface JobSource {
  /** Name in log messages. */
  readonly title: string
  /** Consecutive failures before it is logged. */
  readonly failuresBeforeWarning: number
  /** Claims up to `limit` due jobs. No other worker gets them until the lease ends. */
  claim(limit: number): Promise<ClaimedJob[]>
  /** Renews the leases of these jobs. */
  renewLeases(jobs: readonly ClaimedJob[]): Promise<void>
  complete(job: ClaimedJob): Promise<void>
  /** Retries the job after the pause, or never if it is null. */
  fail(job: ClaimedJob, reason: string, delayMs: number | null): Promise<void>
  /** Releases jobs for other workers at once, without counting the attempt. */
  release(jobs: readonly ClaimedJob[]): Promise<void>
  /** Delays a job for any worker, without counting the attempt. */
  postpone(job: ClaimedJob, delayMs: number): Promise<void>
  /** Releases jobs whose worker is gone. */
  releaseExpired(): Promise<void>
}

export interface WorkerParts {
  source: JobSource
  timing: Timing
  log: Log
  random(): number
}

interface ActiveJob {
  job: ClaimedJob
  settled: Promise<void>
  abortController: AbortController
  /** Measured with `performance.now()`. */
  leaseRenewedAt: number
}

const MAX_POLL_DELAY_MS = 30_000
/** Time for an aborted job to stop. */
const ABORT_GRACE_MS = 500
/** Delay for a job that only a newer release can run. */
const UNKNOWN_JOB_DELAY_MS = MINUTE

/**
 * Claims jobs from a source and runs a few at a time. Polls instead of holding an open connection: it never keeps the
 * host process alive, and one connection is enough.
 */
export class JobWorker {
  readonly #parts: WorkerParts
  readonly #running = new Map<string, ActiveJob>()
  #handle: HandleJob | null = null
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | null = null
  #shouldPollAgain = false
  #failures = 0
  #isOutageReported = false
  #expiredReleasedAt = -Infinity
  #stopped = false
  /** End of the grace period of a stopping process, by `performance.now()`. */
  #graceEndsAt: number | null = null
  #heartbeat: NodeJS.Timeout | undefined

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  start(handle: HandleJob): void {
    this.#handle = handle
    this.#heartbeat ??= setInterval(() => void this.#renewLeases(), this.#parts.timing.leaseMs / 4).unref()
    this.wake()
  }

  /** Polls for jobs at once. */
  wake(): void {
    if (!this.#handle || this.#stopped) return
    if (this.#polling) this.#shouldPollAgain = true
    // An unreachable source is polled on schedule, even if jobs are added.
    else if (this.#failures === 0) this.#schedulePoll(0)
  }

  /** Runs due jobs until none are left or the grace period ends. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#handle || this.#stopped) return
    // A poll that started earlier may have missed new jobs.
    await this.#polling
    while (this.#graceLeft() > 0 && !this.#stopped) {
      await this.#poll()
      if (this.#running.size === 0 || this.#failures > 0) return
      await this.#waitForJobs(this.#graceLeft(), 'any')
    }
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#polling
    await this.#waitForJobs(this.#graceLeft())
    for (const { abortController } of this.#running.values()) abortController.abort()
    await this.#waitForJobs(ABORT_GRACE_MS)
    clearInterval(this.#heartbeat)
    await this.#release([...this.#running.values()].map(({ job }) => job))
    this.#running.clear()
  }

  #schedulePoll(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#poll(), delayMs).unref()
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null
      if (this.#stopped) return
      this.#schedulePoll(this.#nextPollDelay())
      this.#shouldPollAgain = false
    })
    return this.#polling
  }

  #graceLeft(): number {
    this.#graceEndsAt ??= performance.now() + this.#parts.timing.graceMs
    return Math.max(0, this.#graceEndsAt - performance.now())
  }

  #nextPollDelay(): number {
    const { pollMs } = this.#parts.timing
    if (this.#failures > 0) return Math.min(MAX_POLL_DELAY_MS, pollMs * 2 ** this.#failures)
    return this.#shouldPollAgain ? 0 : pollMs
  }

  async #pollOnce(): Promise<void> {
    const { source, timing } = this.#parts
    try {
      if (performance.now() - this.#expiredReleasedAt >= timing.leaseMs / 4) {
        await this.#withTimeLimit(source.releaseExpired())
        this.#expiredReleasedAt = performance.now()
      }
      const freeSlots = CONCURRENCY - this.#running.size
      if (freeSlots === 0) return
      const jobs = await this.#claim(freeSlots)
      this.#noteSuccess()
      if (this.#stopped) return this.#release(jobs)
      for (const job of jobs) this.#startJob(job)
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  async #claim(limit: number): Promise<ClaimedJob[]> {
    const claim = this.#parts.source.claim(limit)
    try {
      return await this.#withTimeLimit(claim)
    } catch (error) {
      // They can arrive late, after the caller stopped waiting.
      void claim.then((jobs) => this.#release(jobs)).catch(() => {})
      throw error
    }
  }

  #startJob(job: ClaimedJob): void {
    if (!JOB_NAMES.includes(job.name)) return void this.#postponeUnknown(job)
    const abortController = new AbortController()
    const running: ActiveJob = { job, abortController, leaseRenewedAt: performance.now(), settled: Promise.resolve() }
    this.#running.set(job.id, running)
    running.settled = this.#run(running).finally(() => {
      if (this.#running.get(job.id) === running) this.#running.delete(job.id)
      this.wake()
    })
  }

  /** During a rollout, processes of both releases share the jobs. */
  async #postponeUnknown(job: ClaimedJob): Promise<void> {
    try {
      await this.#withTimeLimit(this.#parts.source.postpone(job, UNKNOWN_JOB_DELAY_MS))
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  async #run(running: ActiveJob): Promise<void> {
    const { source, timing, random } = this.#parts
    const { job, abortController } = running
    const { name, data, attempt, max_attempts } = job
    let reason: string | null = null
    try {
      await this.#handle?.({ name, data, attempt, signal: abortController.signal })
    } catch (error) {
      reason = reasonOf(error)
    }
    // Its lease expired or it was released: its result is no longer recorded here.
    if (this.#running.get(job.id) !== running) return
    try {
      if (reason === null) await this.#withTimeLimit(source.complete(job))
      else if (abortController.signal.aborted) await this.#withTimeLimit(source.release([job]))
      else {
        const retryDelayMs = attempt < max_attempts ? retryDelay(attempt, timing, random) : null
        await this.#withTimeLimit(source.fail(job, reason, retryDelayMs))
        if (retryDelayMs === null) this.#parts.log.warn(`Job failed permanently (${name}): ${reason}`)
      }
    } catch (error) {
      // The lease expires, and the job runs again.
      this.#noteFailure(error)
    }
  }

  async #renewLeases(): Promise<void> {
    const activeJobs = [...this.#running.values()]
    if (activeJobs.length === 0) return
    const renewedAt = performance.now()
    try {
      await this.#withTimeLimit(this.#parts.source.renewLeases(activeJobs.map(({ job }) => job)))
      for (const running of activeJobs) running.leaseRenewedAt = renewedAt
    } catch (error) {
      this.#noteFailure(error)
    }
    for (const running of activeJobs) {
      if (performance.now() - running.leaseRenewedAt > this.#parts.timing.leaseMs) this.#abandon(running)
    }
  }

  /** Another worker may have claimed it; a hanging handler must not block the jobs after it. */
  #abandon(running: ActiveJob): void {
    running.abortController.abort()
    if (this.#running.get(running.job.id) === running) this.#running.delete(running.job.id)
  }

  async #release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return
    // If this fails, the leases expire.
    await this.#withTimeLimit(this.#parts.source.release(jobs)).catch(() => {})
  }

  async #waitForJobs(delayMs: number, mode: 'all' | 'any' = 'all'): Promise<void> {
    if (this.#running.size === 0) return
    const settled = [...this.#running.values()].map((running) => running.settled)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resume) => {
      timer = setTimeout(resume, delayMs)
    })
    await Promise.race([mode === 'all' ? Promise.all(settled) : Promise.race(settled), timeout])
    clearTimeout(timer)
  }

  #withTimeLimit<T>(response: Promise<T>): Promise<T> {
    const { source, timing } = this.#parts
    return withEngineTimeout(response, source.title, timing)
  }

  #noteFailure(error: unknown): void {
    const { log, source } = this.#parts
    this.#failures++
    if (this.#stopped || this.#failures !== source.failuresBeforeWarning || isReportedByRecorder(error)) return
    this.#isOutageReported = true
    log.warn(`Cannot fetch jobs from ${source.title}: ${reasonOf(error)}\n  Retrying.`)
  }

  #noteSuccess(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    if (!this.#isOutageReported) return
    this.#isOutageReported = false
    this.#parts.log.info(`${this.#parts.source.title} is available again. Resuming its jobs.`)
  }
}

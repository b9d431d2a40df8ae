import type { Log } from '../context.js'
import { MINUTE } from '../model/time.js'
import { type HandleJob, JOB_NAMES, type JobName } from './engine.js'
import { isSaidByOthers, reasonOf } from './reason.js'
import { CONCURRENCY, pauseAfter, respondingInTime, type Timing } from './timing.js'

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
  readonly complains_at: number
  /** Claims up to `limit` due jobs. No other worker gets them until the lease ends. */
  claim(limit: number): Promise<ClaimedJob[]>
  /** Renews the leases of these jobs. */
  keep(jobs: readonly ClaimedJob[]): Promise<void>
  done(job: ClaimedJob): Promise<void>
  /** Retries the job after the pause, or never if it is null. */
  failed(job: ClaimedJob, reason: string, pause_ms: number | null): Promise<void>
  /** Releases jobs for other workers at once, without counting the attempt. */
  giveBack(jobs: readonly ClaimedJob[]): Promise<void>
  /** Delays a job for any worker, without counting the attempt. */
  putOff(job: ClaimedJob, pause_ms: number): Promise<void>
  /** Releases jobs whose worker is gone. */
  rescue(): Promise<void>
}

export interface WorkerParts {
  source: JobSource
  timing: Timing
  log: Log
  random(): number
}

interface Running {
  job: ClaimedJob
  ended: Promise<void>
  stopper: AbortController
  /** Measured with `performance.now()`. */
  kept_at: number
}

const LONGEST_PAUSE_MS = 30_000
/** Time for an aborted job to stop. */
const BREAK_OFF_MS = 500
/** Delay for a job that only a newer release can run. */
const UNKNOWN_PAUSE_MS = MINUTE

/**
 * Claims jobs from a source and runs a few at a time. Polls instead of holding an open connection: it never keeps the
 * host process alive, and one connection is enough.
 */
export class JobWorker {
  readonly #parts: WorkerParts
  readonly #running = new Map<string, Running>()
  #handle: HandleJob | null = null
  #timer: NodeJS.Timeout | undefined
  #turning: Promise<void> | null = null
  #wanted = false
  #away_pauses = 0
  #isReportedAway = false
  #rescued_at = -Infinity
  #stopped = false
  /** End of the grace period of a stopping process, by `performance.now()`. */
  #grace_ends_at: number | null = null
  #heart: NodeJS.Timeout | undefined

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  start(handle: HandleJob): void {
    this.#handle = handle
    this.#heart ??= setInterval(() => void this.#keepAll(), this.#parts.timing.lease_ms / 4).unref()
    this.wake()
  }

  /** Polls for jobs at once. */
  wake(): void {
    if (!this.#handle || this.#stopped) return
    if (this.#turning) this.#wanted = true
    // An unreachable source is polled on schedule, however many jobs are added.
    else if (this.#away_pauses === 0) this.#lookIn(0)
  }

  /** Runs due jobs until none are left or the grace period ends. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#handle || this.#stopped) return
    // A poll that started earlier may have missed new jobs.
    await this.#turning
    while (this.#graceLeft() > 0 && !this.#stopped) {
      await this.#look()
      if (this.#running.size === 0 || this.#away_pauses > 0) return
      await this.#endedWithin(this.#graceLeft(), 'any')
    }
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#turning
    await this.#endedWithin(this.#graceLeft())
    for (const { stopper } of this.#running.values()) stopper.abort()
    await this.#endedWithin(BREAK_OFF_MS)
    clearInterval(this.#heart)
    await this.#giveBack([...this.#running.values()].map(({ job }) => job))
    this.#running.clear()
  }

  #lookIn(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), milliseconds).unref()
  }

  #look(): Promise<void> {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = null
      if (this.#stopped) return
      this.#lookIn(this.#nextPause())
      this.#wanted = false
    })
    return this.#turning
  }

  #graceLeft(): number {
    this.#grace_ends_at ??= performance.now() + this.#parts.timing.grace_ms
    return Math.max(0, this.#grace_ends_at - performance.now())
  }

  #nextPause(): number {
    const { poll_ms } = this.#parts.timing
    if (this.#away_pauses > 0) return Math.min(LONGEST_PAUSE_MS, poll_ms * 2 ** this.#away_pauses)
    return this.#wanted ? 0 : poll_ms
  }

  async #turn(): Promise<void> {
    const { source, timing } = this.#parts
    try {
      if (performance.now() - this.#rescued_at >= timing.lease_ms / 4) {
        await this.#inTime(source.rescue())
        this.#rescued_at = performance.now()
      }
      const free = CONCURRENCY - this.#running.size
      if (free === 0) return
      const jobs = await this.#claim(free)
      this.#isBack()
      if (this.#stopped) return this.#giveBack(jobs)
      for (const job of jobs) this.#begin(job)
    } catch (error) {
      this.#goAway(error)
    }
  }

  async #claim(limit: number): Promise<ClaimedJob[]> {
    const claiming = this.#parts.source.claim(limit)
    try {
      return await this.#inTime(claiming)
    } catch (error) {
      // They can arrive late, after the caller stopped waiting.
      void claiming.then((jobs) => this.#giveBack(jobs)).catch(() => {})
      throw error
    }
  }

  #begin(job: ClaimedJob): void {
    if (!JOB_NAMES.includes(job.name)) return void this.#leaveToNewer(job)
    const stopper = new AbortController()
    const running: Running = { job, stopper, kept_at: performance.now(), ended: Promise.resolve() }
    this.#running.set(job.id, running)
    running.ended = this.#run(running).finally(() => {
      if (this.#running.get(job.id) === running) this.#running.delete(job.id)
      this.wake()
    })
  }

  /** During a rollout, processes of both releases share the jobs. */
  async #leaveToNewer(job: ClaimedJob): Promise<void> {
    try {
      await this.#inTime(this.#parts.source.putOff(job, UNKNOWN_PAUSE_MS))
    } catch (error) {
      this.#goAway(error)
    }
  }

  async #run(running: Running): Promise<void> {
    const { source, timing, random } = this.#parts
    const { job, stopper } = running
    const { name, data, attempt, max_attempts } = job
    let reason: string | null = null
    try {
      await this.#handle?.({ name, data, attempt, signal: stopper.signal })
    } catch (error) {
      reason = reasonOf(error)
    }
    // Its lease expired or it was released: its result is no longer recorded here.
    if (this.#running.get(job.id) !== running) return
    try {
      if (reason === null) await this.#inTime(source.done(job))
      else if (stopper.signal.aborted) await this.#inTime(source.giveBack([job]))
      else {
        const pause = attempt < max_attempts ? pauseAfter(attempt, timing, random) : null
        await this.#inTime(source.failed(job, reason, pause))
        if (pause === null) this.#parts.log.warn(`Job failed permanently (${name}): ${reason}`)
      }
    } catch (error) {
      // The lease expires, and the job runs again.
      this.#goAway(error)
    }
  }

  async #keepAll(): Promise<void> {
    const all = [...this.#running.values()]
    if (all.length === 0) return
    const asked_at = performance.now()
    try {
      await this.#inTime(this.#parts.source.keep(all.map(({ job }) => job)))
      for (const running of all) running.kept_at = asked_at
    } catch (error) {
      this.#goAway(error)
    }
    for (const running of all) {
      if (performance.now() - running.kept_at > this.#parts.timing.lease_ms) this.#abandon(running)
    }
  }

  /** Another worker may have claimed it; a hanging handler must not block the jobs after it. */
  #abandon(running: Running): void {
    running.stopper.abort()
    if (this.#running.get(running.job.id) === running) this.#running.delete(running.job.id)
  }

  async #giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return
    // If this fails, the leases expire.
    await this.#inTime(this.#parts.source.giveBack(jobs)).catch(() => {})
  }

  async #endedWithin(milliseconds: number, which: 'all' | 'any' = 'all'): Promise<void> {
    if (this.#running.size === 0) return
    const ended = [...this.#running.values()].map((running) => running.ended)
    let timer: NodeJS.Timeout | undefined
    const impatience = new Promise<void>((resume) => {
      timer = setTimeout(resume, milliseconds)
    })
    await Promise.race([which === 'all' ? Promise.all(ended) : Promise.race(ended), impatience])
    clearTimeout(timer)
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { source, timing } = this.#parts
    return respondingInTime(answer, source.title, timing)
  }

  #goAway(error: unknown): void {
    const { log, source } = this.#parts
    this.#away_pauses++
    if (this.#stopped || this.#away_pauses !== source.complains_at || isSaidByOthers(error)) return
    this.#isReportedAway = true
    log.warn(`Cannot fetch jobs from ${source.title}: ${reasonOf(error)}\n  Retrying.`)
  }

  #isBack(): void {
    if (this.#away_pauses === 0) return
    this.#away_pauses = 0
    if (!this.#isReportedAway) return
    this.#isReportedAway = false
    this.#parts.log.info(`${this.#parts.source.title} is back; running its jobs again.`)
  }
}

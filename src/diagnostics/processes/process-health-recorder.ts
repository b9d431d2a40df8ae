import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Context } from '../../context.js'
import { failureMessage } from '../../model/errors.js'
import { MINUTE } from '../../model/time.js'
import { applicationId } from '../../store/applications.js'
import type { BulkTarget } from '../../store/dialect.js'
import { heapLimit } from './heap-limit.js'
import { MeasuredInterval } from './measured-interval.js'
import { MINUTES, type Minute, MinuteTotals, minuteRow } from './minute-totals.js'

/** Delay of the first sample, so that a new process appears soon. The jitter spreads simultaneous starts. */
const FIRST_SAMPLE_MS = 2000
const FIRST_SAMPLE_JITTER_MS = 3000
/** Minutes buffered while the database is unreachable. The oldest are discarded first. */
const MAX_UNWRITTEN_MINUTES = 60

const PROCESSES: BulkTarget = {
  table: 'faultboard_processes',
  columns: [
    { name: 'process_key', type: 'text' },
    { name: 'application_id', type: 'integer' },
    { name: 'environment', type: 'text' },
    { name: 'hostname', type: 'text' },
    { name: 'pid', type: 'integer' },
    { name: 'node_version', type: 'text' },
    { name: 'app_version', type: 'text' },
    { name: 'started_at', type: 'integer' },
    { name: 'last_minute', type: 'integer' },
  ],
  onConflict: { key: ['process_key'], update: [{ column: 'last_minute', by: 'greatest' }] },
}

/** Writes one row per minute with the metrics of this process. Never throws and never keeps the process alive. */
export class ProcessHealthRecorder {
  readonly #context: Context
  readonly #interval = new MeasuredInterval()
  readonly #startedAt: number
  /** Random offset in the minute, so that processes do not all write at the same time. */
  readonly #offsetMs: number
  #timer: NodeJS.Timeout | undefined
  readonly #minutes = new MinuteTotals()
  #hasLoggedRejection = false
  /** Errors reported so far. Starts at 0 to include errors from before this module was loaded. */
  #reportedErrors = 0
  #isStopped = false

  constructor(context: Context) {
    this.#context = context
    this.#startedAt = Math.round(context.now() - process.uptime() * 1000)
    this.#offsetMs = Math.floor(context.random() * MINUTE)
    this.#scheduleSample(FIRST_SAMPLE_MS + context.random() * FIRST_SAMPLE_JITTER_MS)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#interval.stop()
  }

  /** Writes the metrics since the last sample, together with minutes that could not be written before. */
  async sample(): Promise<void> {
    const { now, recorder } = this.#context
    const { rss, heapUsed } = process.memoryUsage()
    const errors = recorder.received - this.#reportedErrors
    this.#reportedErrors = recorder.received
    const minute = now() - (now() % MINUTE)
    this.#minutes.add({
      minute,
      rss_bytes: rss,
      heap_used_bytes: heapUsed,
      heap_limit_bytes: heapLimit(),
      handles: process.getActiveResourcesInfo().length,
      errors,
      ...this.#interval.restart(),
    })
    const rows = this.#minutes.unwritten
    try {
      await this.#write(rows, minute)
      this.#minutes.markWritten(rows, minute)
    } catch (error) {
      this.#handleFailure(rows, error)
    }
  }

  /** Logs rejected rows only. The recorder already logs that the database is unreachable. */
  #handleFailure(rows: readonly Minute[], error: unknown): void {
    const { counters, database, log } = this.#context
    if (database.classifyError(error) !== 'statement') {
      const discarded = rows.slice(0, Math.max(0, rows.length - MAX_UNWRITTEN_MINUTES))
      this.#minutes.discard(discarded)
      if (discarded.length > 0) counters.add('process_health_lost', discarded.length)
      return
    }
    // Retrying would fail again and block all later rows.
    this.#minutes.discard(rows)
    counters.add('process_health_refused', rows.length)
    if (!this.#hasLoggedRejection) log.warn(`Cannot store process health: ${failureMessage(error)}.`)
    this.#hasLoggedRejection = true
  }

  async #write(rows: readonly Minute[], minute: number): Promise<void> {
    const { config, database, now, ready } = this.#context
    await ready()
    const { application_name, environment } = config
    const application_id = await applicationId(database, application_name, now())
    const key = this.#processKey()
    await database.write(async (trx) => {
      await database.dialect.insertMany(trx, PROCESSES, [
        [
          ...[key, application_id, environment, hostname().slice(0, 255), process.pid, process.version],
          ...[config.app_version?.slice(0, 128) ?? null, this.#startedAt, minute],
        ],
      ])
      const { id } = await trx
        .selectFrom('faultboard_processes')
        .select('id')
        .where('process_key', '=', key)
        .executeTakeFirstOrThrow()
      await database.dialect.insertMany(
        trx,
        MINUTES,
        rows.map((row) => minuteRow(id, row)),
      )
    })
  }

  /** Includes the start time, because a restarted container reuses its pid. */
  #processKey(): string {
    const { application_name, environment } = this.#context.config
    const parts = [application_name, environment, hostname(), process.pid, this.#startedAt]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }

  #scheduleSample(delayMs: number): void {
    if (this.#isStopped) return
    const next = () => this.#scheduleSample(MINUTE - ((this.#context.now() - this.#offsetMs) % MINUTE))
    this.#timer = setTimeout(() => void this.sample().finally(next), delayMs).unref()
  }
}

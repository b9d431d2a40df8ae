import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Context } from '../../context.js'
import { failureMessage } from '../../model/own-words.js'
import { MINUTE } from '../../model/time.js'
import { applicationId } from '../../store/applications.js'
import type { BulkTarget } from '../../store/dialect.js'
import { heapLimit } from './heap-limit.js'
import { MeasuredInterval } from './measured-interval.js'
import { MINUTES, type Minute, MinuteTotals, minuteRow } from './minute-totals.js'

/** A new process is seen at once. */
const FIRST_MS = { least: 2000, more: 3000 }
/** Minutes that are kept in memory while the database is away; the oldest go first. */
const MAX_WAITING = 60

const PROCESSES: BulkTarget = {
  table: 'faultboard_processes',
  columns: [
    { name: 'process_key', type: 'text' },
    { name: 'application_id', type: 'integer' },
    { name: 'hostname', type: 'text' },
    { name: 'pid', type: 'integer' },
    { name: 'node_version', type: 'text' },
    { name: 'app_version', type: 'text' },
    { name: 'started_at', type: 'integer' },
    { name: 'last_minute', type: 'integer' },
  ],
  onConflict: { key: ['process_key'], update: [{ column: 'last_minute', by: 'greatest' }] },
}

/** Writes one small row a minute of how this process is doing. It never throws, and never keeps the process alive. */
export class ProcessHealthRecorder {
  readonly #context: Context
  readonly #interval = new MeasuredInterval()
  readonly #started_at: number
  /** Processes that start together do not write together. */
  readonly #phase: number
  #timer: NodeJS.Timeout | undefined
  readonly #minutes = new MinuteTotals()
  #is_refused = false
  /** Those before this was loaded count too. */
  #errors = 0
  #stopped = false

  constructor(context: Context) {
    this.#context = context
    this.#started_at = Math.round(context.now() - process.uptime() * 1000)
    this.#phase = Math.floor(context.random() * MINUTE)
    this.#sampleIn(FIRST_MS.least + context.random() * FIRST_MS.more)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#interval.stop()
  }

  /** Takes the figures since the last time and writes them, with those that could not be written before. */
  async sample(): Promise<void> {
    const { now, recorder } = this.#context
    const { rss, heapUsed } = process.memoryUsage()
    const errors = recorder.received - this.#errors
    this.#errors = recorder.received
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
    const rows = this.#minutes.waiting
    try {
      await this.#write(rows, minute)
      this.#minutes.written(rows, minute)
    } catch (error) {
      this.#failed(rows, error)
    }
  }

  /** Why the database is away is told with the errors that wait for it; that it refuses a row, only here. */
  #failed(rows: readonly Minute[], error: unknown): void {
    const { counters, database, log } = this.#context
    if (database.dialect.classifyError(error) !== 'statement') {
      const lost = rows.slice(0, Math.max(0, rows.length - MAX_WAITING))
      this.#minutes.forget(lost)
      if (lost.length > 0) counters.add('process_health_lost', lost.length)
      return
    }
    // It would be refused again and again, and everything after it too.
    this.#minutes.forget(rows)
    counters.add('process_health_refused', rows.length)
    if (!this.#is_refused) log.warn(`The health of the process cannot be written (${failureMessage(error)}).`)
    this.#is_refused = true
  }

  async #write(rows: readonly Minute[], minute: number): Promise<void> {
    const { config, database, now, ready } = this.#context
    await ready()
    const name = config.application_name
    const application_id = await applicationId(database, name, now())
    const key = this.#key(name)
    await database.write(async (trx) => {
      await database.dialect.insertMany(trx, PROCESSES, [
        [
          ...[key, application_id, hostname().slice(0, 255), process.pid, process.version],
          ...[config.app_version?.slice(0, 128) ?? null, this.#started_at, minute],
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

  /** In a container the pid is always the same; a restart is another process all the same. */
  #key(application_name: string): string {
    const parts = [application_name, hostname(), process.pid, this.#started_at]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }

  #sampleIn(milliseconds: number): void {
    if (this.#stopped) return
    const next = () => this.#sampleIn(MINUTE - ((this.#context.now() - this.#phase) % MINUTE))
    this.#timer = setTimeout(() => void this.sample().finally(next), milliseconds).unref()
  }
}

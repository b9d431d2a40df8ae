import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Context } from '../../context.js'
import { MINUTE } from '../../model/time.js'
import { applicationId } from '../../store/applications.js'
import type { BulkTarget } from '../../store/dialect.js'
import { heapLimit } from './heap-limit.js'
import { MeasuredInterval } from './measured-interval.js'

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
  on_conflict: { key: ['process_key'], update: [{ column: 'last_minute', by: 'greatest' }] },
}

const INTEGERS = ['process_id', 'minute', 'rss_bytes', 'heap_used_bytes', 'heap_limit_bytes', 'handles', 'errors']
const FRACTIONS = ['delay_p50_ms', 'delay_p99_ms', 'delay_max_ms', 'utilisation', 'cpu', 'gc_ms']

const MINUTES: BulkTarget = {
  table: 'faultboard_process_minutes',
  columns: [
    ...INTEGERS.map((name) => ({ name, type: 'integer' as const })),
    ...FRACTIONS.map((name) => ({ name, type: 'fraction' as const })),
  ],
  // The first look comes early, and may share its minute with the second.
  on_conflict: {
    key: ['process_id', 'minute'],
    update: [
      ...['rss_bytes', 'heap_used_bytes', 'handles', 'delay_p99_ms', 'delay_max_ms'].map((column) => ({
        column,
        by: 'greatest' as const,
      })),
      ...['errors', 'gc_ms'].map((column) => ({ column, by: 'add' as const })),
    ],
  },
}

/** The columns of a minute after the number of its process. */
type Minute = readonly (number | null)[]

/** Writes one small row a minute of how this process is doing. It never throws, and never keeps the process alive. */
export class ProcessHealthRecorder {
  readonly #context: Context
  readonly #interval = new MeasuredInterval()
  readonly #started_at: number
  /** Processes that start together do not write together. */
  readonly #phase: number
  #timer: NodeJS.Timeout | undefined
  #waiting: Minute[] = []
  #errors: number
  #stopped = false

  constructor(context: Context) {
    this.#context = context
    this.#started_at = Math.round(context.now() - process.uptime() * 1000)
    this.#phase = Math.floor(context.random() * MINUTE)
    this.#errors = context.recorder.received
    this.#sampleIn(FIRST_MS.least + context.random() * FIRST_MS.more)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#interval.stop()
  }

  /** Takes the figures since the last time and writes them, with those that could not be written before. */
  async sample(): Promise<void> {
    const { counters, now, recorder } = this.#context
    const { rss, heapUsed } = process.memoryUsage()
    const figures = this.#interval.restart()
    const errors = recorder.received - this.#errors
    this.#errors = recorder.received
    const minute = now() - (now() % MINUTE)
    this.#waiting.push([
      ...[minute, rss, heapUsed, heapLimit(), process.getActiveResourcesInfo().length, errors],
      ...[figures.delay_p50_ms, figures.delay_p99_ms, figures.delay_max_ms],
      ...[figures.utilisation, figures.cpu, figures.gc_ms],
    ])
    try {
      await this.#write(minute)
    } catch {
      // Why the database cannot be written is told with the errors that wait for it.
      if (this.#waiting.length > MAX_WAITING) {
        this.#waiting.shift()
        counters.add('process_health_lost')
      }
    }
  }

  async #write(minute: number): Promise<void> {
    const { config, database, now, ready } = this.#context
    await ready()
    const rows = this.#waiting
    const name = config.application_name ?? 'application'
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
        rows.map((row) => [id, ...row]),
      )
    })
    this.#waiting = this.#waiting.filter((row) => !rows.includes(row))
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

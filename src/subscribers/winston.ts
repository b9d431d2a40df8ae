import { Writable } from 'node:stream'
import { whenStackAllows } from '../capture/guards/deferred-reports.js'
import { LateReports } from '../capture/sources/late-reports.js'
import type { Reporter } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import { checkOptionNames } from '../model/input/option-names.js'
import type { AnyCase } from '../model/input/spelling.js'
import type { TrackerInstance } from '../tracker.js'
import { findError, LogEntry, otherFields } from './log-entry.js'

type Info = Record<string | symbol, unknown>

/** Options in snake_case or camelCase. */
export type FaultboardTransportOptions = AnyCase<CanonicalOptions>

interface CanonicalOptions {
  /** Minimum level of the entries it receives. Default: the level of the logger. */
  level?: string
  /** Minimum level of entries that are recorded as errors. Default: `error`. */
  error_level?: string
  /** Also records entries without an Error, with the type `LogEntry`. */
  record_all?: boolean
  handleExceptions?: boolean
  handleRejections?: boolean
  silent?: boolean
  /** Option of every transport, without effect here: an entry is recorded before it is formatted. */
  format?: unknown
}

const OPTION_NAMES = {
  level: true,
  error_level: true,
  record_all: true,
  handleExceptions: true,
  handleRejections: true,
  silent: true,
  format: true,
} as const

const LEVEL = Symbol.for('level')
const SPLAT = Symbol.for('splat')

/**
 * Transport for winston 3. Records entries of level error with an Error, and adds all entries as breadcrumbs (if
 * `enable_breadcrumbs` is on). Pass the Error next to the text (`logger.error('text', error)` or `{ err: error }`): a
 * lone Error does not survive `format.errors()` and child loggers, and is then recorded by its text and stack.
 * Controlled by `enable_error_subscriber`.
 * @example createLogger({ transports: [new transports.Console(), new FaultboardTransport()] })
 */
export class FaultboardTransport extends Writable {
  level?: string
  levels: Record<string, number> = { error: 0 }
  handleExceptions: boolean
  handleRejections: boolean
  silent: boolean
  parent: { level?: string } | null = null
  readonly #errorLevel: string
  readonly #recordAll: boolean
  readonly #detach: () => void
  #reports: { reporter: Reporter; lateReports: LateReports } | null = null

  constructor(given: FaultboardTransportOptions = {}, tracker: TrackerInstance = Tracker) {
    super({ objectMode: true })
    const options = checkOptionNames<CanonicalOptions>(given, OPTION_NAMES)
    if (options.level !== undefined) this.level = options.level
    this.handleExceptions = options.handleExceptions ?? false
    this.handleRejections = options.handleRejections ?? false
    this.silent = options.silent ?? false
    this.#errorLevel = options.error_level ?? 'error'
    this.#recordAll = options.record_all ?? false
    this.#detach = tracker.start().attach((reporter) => {
      const lateReports = new LateReports(reporter)
      this.#reports = { reporter, lateReports }
      return () => {
        this.#reports = null
        lateReports.stop()
      }
    })
    this.once('pipe', (logger: { levels?: Record<string, number>; level?: string }) => {
      this.levels = logger.levels ?? this.levels
      this.parent = logger
    })
    this.once('unpipe', () => this.close())
  }

  override _write(info: Info, _encoding: string, done: () => void): void {
    if (this.#accepts(info)) this.log(info, done)
    else done()
  }

  /** Called by winston for an entry, or directly for an exception that it handles. Never throws. */
  log(info: Info, done: () => void = () => {}): void {
    const reports = this.#reports
    if (reports) whenStackAllows(() => this.#recordSafely(info, reports))
    done()
  }

  /** Called by winston when the transport is removed. */
  close(): void {
    this.#detach()
  }

  #accepts(info: Info): boolean {
    if (this.silent || (info.exception === true && !this.handleExceptions)) return false
    if (info.rejection === true && !this.handleRejections) return false
    const minLevel = this.level ?? this.parent?.level
    return minLevel === undefined || this.#rank(minLevel) >= this.#rank(entryLevel(info))
  }

  /** Lower is more severe; an undefined level counts as the least severe. */
  #rank(level: string): number {
    return this.levels[level] ?? Number.POSITIVE_INFINITY
  }

  #recordSafely(info: Info, reports: { reporter: Reporter; lateReports: LateReports }): void {
    try {
      this.#record(info, reports)
    } catch {
      reports.reporter.context.counters.add('failed: winston')
    }
  }

  #record(info: Info, { reporter, lateReports }: { reporter: Reporter; lateReports: LateReports }): void {
    const { breadcrumbs, config } = reporter.context
    const level = entryLevel(info)
    const message = typeof info.message === 'string' ? info.message : undefined
    const error = entryError(info)
    if (this.#rank(level) <= this.#rank(this.#errorLevel) && config.enable_error_subscriber) {
      const thrown =
        error ?? rebuildError(info, message) ?? (this.#recordAll ? new LogEntry(message, this._write) : undefined)
      if (thrown) {
        const { level: _level, stack: _stack, trace: _trace, ...fields } = otherFields(thrown, info)
        const unhandled = info.exception === true || info.rejection === true
        lateReports.add(thrown, { source: 'winston', unhandled, context: { log: fields } })
      }
    }
    breadcrumbs.add({ category: 'log', message: message ?? error?.message ?? '', metadata: { level } })
  }
}

function entryLevel(info: Info): string {
  return String(info[LEVEL] ?? info.level ?? '')
}

function entryError(info: Info): Error | undefined {
  const found = findError(info, ['err', 'error', 'exception', 'message'])
  if (found) return found
  const splat = info[SPLAT]
  if (!Array.isArray(splat)) return undefined
  for (const value of splat) {
    const error = findError(value, ['err', 'error', 'exception'])
    if (error) return error
  }
  return undefined
}

/** Rebuilds an Error that a format or a child logger flattened into fields. */
function rebuildError(info: Info, message = ''): Error | undefined {
  if (typeof info.stack !== 'string') return undefined
  const error = new Error(message, info.cause === undefined ? undefined : { cause: info.cause })
  error.name = /^([\w$.]{1,100})(?=:|\n|$)/.exec(info.stack)?.[1] ?? 'Error'
  error.stack = info.stack
  return error
}

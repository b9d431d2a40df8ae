import { PINO_CHANNEL, type PinoLine } from '../capture/breadcrumbs/pino.js'
import { subscribeAll } from '../capture/breadcrumbs/subscriptions.js'
import { guarded } from '../capture/guarded.js'
import { whenStackAllows } from '../capture/guards/deferred-reports.js'
import { LateReports } from '../capture/sources/late-reports.js'
import type { Reporter, Source } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import { checkOptionNames } from '../model/input/option-names.js'
import type { AnyCase } from '../model/input/spelling.js'
import type { TrackerInstance } from '../tracker.js'
import { findError, LogEntry, otherFields } from './log-entry.js'

/** Options in snake_case or camelCase. */
export type PinoOptions = AnyCase<CanonicalOptions>

interface CanonicalOptions {
  /** Also records error and fatal entries without an Error, with the type `LogEntry`. */
  record_all?: boolean
}

const ERROR_LEVEL = 50
const FATAL_LEVEL = 60

/**
 * Records entries that pino (9.10 or later) logs at level error or fatal together with an Error: `log.error(error)`,
 * `log.error({ err }, 'text')`. An error that is logged and rethrown is recorded once. Works for all loggers of the
 * process. Returns a function that unsubscribes; `Tracker.shutdown()` unsubscribes too. Controlled by
 * `enable_error_subscriber`.
 * @example subscribeToPino()
 */
export function subscribeToPino(options: PinoOptions = {}, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(pinoErrorSource(checkOptionNames<CanonicalOptions>(options, { record_all: true })))
}

function pinoErrorSource({ record_all = false }: CanonicalOptions): Source {
  return (reporter) => {
    if (!reporter.context.config.enable_error_subscriber) return () => {}
    const lateReports = new LateReports(reporter)
    const recordLine = guarded(reporter.context.counters, PINO_CHANNEL, (line: PinoLine) => {
      const [fields, message, level] = line.arguments
      const text = typeof message === 'string' ? message : undefined
      const error = findError(fields, ['err', 'error', 'exception']) ?? (record_all ? new LogEntry(text) : undefined)
      if (!error) return
      const report: Parameters<Reporter['report']> = [
        error,
        {
          source: 'pino',
          severity: level >= FATAL_LEVEL ? 'critical' : undefined,
          context: {
            log: {
              ...childBindings(line),
              ...otherFields(error, fields),
              ...(text === undefined ? {} : { msg: text }),
            },
          },
        },
      ]
      // The process usually ends after a fatal entry.
      if (level >= FATAL_LEVEL) reporter.report(...report)
      else lateReports.add(...report)
    })
    const stop = subscribeAll(reporter, {
      [PINO_CHANNEL]: (line: PinoLine) => {
        const level = line.arguments[2]
        if (typeof level === 'number' && level >= ERROR_LEVEL) whenStackAllows(() => recordLine(line))
      },
    })
    return () => {
      stop()
      lateReports.stop()
    }
  }
}

/** Bindings that a child logger adds to each entry. */
function childBindings({ instance }: PinoLine): object {
  try {
    const bindings = instance.bindings?.()
    return typeof bindings === 'object' && bindings !== null ? bindings : {}
  } catch {
    // A custom logger of the host failed: record the error without its bindings.
    return {}
  }
}

import { PINO_CHANNEL, type PinoLine } from '../capture/breadcrumbs/pino.js'
import { listenOn } from '../capture/breadcrumbs/subscriptions.js'
import { guarded } from '../capture/guarded.js'
import { whenStackAllows } from '../capture/guards/deferred-reports.js'
import { LateReports } from '../capture/sources/late-reports.js'
import type { Reporter, Source } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { errorIn, fieldsBeside, LogEntry } from './log-entry.js'

export interface PinoOptions {
  /** Also records error and fatal entries without an Error, with the type `LogEntry`. */
  record_all?: boolean
}

const ERROR = 50
const FATAL = 60

/**
 * Records entries that pino (9.10 or later) logs at level error or fatal together with an Error: `log.error(error)`,
 * `log.error({ err }, 'text')`. An error that is logged and rethrown is recorded once. Works for all loggers of the
 * process. Returns the function that stops it; `Tracker.shutdown()` stops it too. Controlled by
 * `enable_error_subscriber`.
 * @example subscribeToPino()
 */
export function subscribeToPino(options: PinoOptions = {}, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(pinoErrors(options))
}

function pinoErrors({ record_all = false }: PinoOptions): Source {
  return (reporter) => {
    if (!reporter.context.config.enable_error_subscriber) return () => {}
    const late = new LateReports(reporter)
    const take = guarded(reporter.context.counters, PINO_CHANNEL, (line: PinoLine) => {
      const [fields, message, level] = line.arguments
      const text = typeof message === 'string' ? message : undefined
      const error = errorIn(fields, ['err', 'error', 'exception']) ?? (record_all ? new LogEntry(text) : undefined)
      if (!error) return
      const report: Parameters<Reporter['report']> = [
        error,
        {
          source: 'pino',
          severity: level >= FATAL ? 'critical' : undefined,
          context: {
            log: {
              ...bindingsOf(line),
              ...fieldsBeside(error, fields),
              ...(text === undefined ? {} : { msg: text }),
            },
          },
        },
      ]
      // The process usually ends after a fatal entry.
      if (level >= FATAL) reporter.report(...report)
      else late.add(...report)
    })
    const stop = listenOn(reporter, {
      [PINO_CHANNEL]: (line: PinoLine) => {
        const level = line.arguments[2]
        if (typeof level === 'number' && level >= ERROR) whenStackAllows(() => take(line))
      },
    })
    return () => {
      stop()
      late.stop()
    }
  }
}

/** Bindings that a child logger adds to each entry. */
function bindingsOf({ instance }: PinoLine): object {
  try {
    const bindings = instance.bindings?.()
    return typeof bindings === 'object' && bindings !== null ? bindings : {}
  } catch {
    // A custom logger of the host failed: record the error without its bindings.
    return {}
  }
}

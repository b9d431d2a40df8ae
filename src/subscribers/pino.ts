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
  /** Records entries of level error and fatal that carry no Error, too, as errors of the type `LogEntry`. */
  record_all?: boolean
}

const ERROR = 50
const FATAL = 60

/**
 * Records what pino (9.10 or later) logs at the level error or fatal together with an Error: `log.error(error)`,
 * `log.error({ err }, 'text')`. It is the very Error, so what is logged and thrown on is recorded once. It works for all
 * loggers of the process. Gives the function that ends it; `Tracker.shutdown()` does it, too. Governed by
 * `enable_error_subscriber`.
 *
 * @example
 * subscribeToPino()
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
      // After a fatal entry the process usually ends.
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

/** What a child logger adds to each of its entries. */
function bindingsOf({ instance }: PinoLine): object {
  try {
    const bindings = instance.bindings?.()
    return typeof bindings === 'object' && bindings !== null ? bindings : {}
  } catch {
    // A logger of the host's own making: the error is worth recording without.
    return {}
  }
}

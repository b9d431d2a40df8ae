import { AsyncResource } from 'node:async_hooks'
import { atExit } from '../../store/spool/at-exit.js'
import type { Reporter } from './source.js'

/**
 * Reports what was logged at the end of this turn of the event loop: the hook of a framework may meet the same error a
 * moment later and know the request, too, and of one error only the first report counts. When the process ends, or the
 * tracker stops, what still waits is reported at once.
 */
export class LateReports {
  readonly #reporter: Reporter
  readonly #waiting = new Set<() => void>()
  #stopAtExit = () => {}

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  add(...report: Parameters<Reporter['report']>): void {
    // Bound, so that it is reported from the scope in which it was logged even when the process ends before.
    const send = AsyncResource.bind(() => {
      if (!this.#waiting.delete(send)) return
      if (this.#waiting.size === 0) this.#stopAtExit()
      this.#reporter.report(...report)
    })
    // Listening only while something waits: a host may have any number of loggers.
    if (this.#waiting.size === 0) this.#stopAtExit = atExit('late_reports', this.stop)
    this.#waiting.add(send)
    // Not unref'd: an idle loop would come round to it with the next event only, whenever that is.
    setImmediate(send)
  }

  readonly stop = (): void => {
    for (const send of this.#waiting) send()
  }
}

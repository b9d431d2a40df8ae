import { AsyncResource } from 'node:async_hooks'
import { atExit } from '../../store/spool/at-exit.js'
import type { Reporter } from './source.js'

/**
 * Delays logged errors to the end of the current event loop turn. A framework hook may see the same error a moment
 * later with the request, and only the first report counts. Waiting reports are sent when the process ends or the
 * tracker stops.
 */
export class LateReports {
  readonly #reporter: Reporter
  readonly #pending = new Set<() => void>()
  #stopAtExit = () => {}

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  add(...report: Parameters<Reporter['report']>): void {
    // Bound to its async context, so that it is reported in the scope in which it was logged.
    const send = AsyncResource.bind(() => {
      if (!this.#pending.delete(send)) return
      if (this.#pending.size === 0) this.#stopAtExit()
      this.#reporter.report(...report)
    })
    // Listens only while reports are waiting, because a host can have many loggers.
    if (this.#pending.size === 0) this.#stopAtExit = atExit('late_reports', this.stop)
    this.#pending.add(send)
    // Not unref'd: an idle event loop would delay the callback until the next event.
    setImmediate(send)
  }

  readonly stop = (): void => {
    for (const send of this.#pending) send()
  }
}

import { AsyncResource } from 'node:async_hooks'
import { atExit } from '../../store/spool/at-exit.js'

const MAX_DELAYED_REPORTS = 1000

/**
 * Delays reports, so that a more detailed report of the same error can arrive first. Waiting reports are sent when the
 * process ends. The timer does not keep the process alive.
 */
export class DelayedReports {
  readonly #delayMs: number
  readonly #delayed: { send(): void; due: number }[] = []
  #timer: NodeJS.Timeout | null = null
  #stopAtExit = () => {}

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  add(report: () => void): void {
    if (this.#delayed.length === 0) this.#stopAtExit = atExit('late_reports', this.sendAll)
    // Bound to its async context, so that it is sent in the scope of its request.
    this.#delayed.push({ send: AsyncResource.bind(report), due: performance.now() + this.#delayMs })
    if (this.#delayed.length > MAX_DELAYED_REPORTS) this.#send(1)
    this.#schedule()
  }

  readonly sendAll = (): void => {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#send(this.#delayed.length)
  }

  #schedule(): void {
    const [next] = this.#delayed
    if (this.#timer || !next) return
    this.#timer = setTimeout(this.#onTime, Math.max(1, next.due - performance.now())).unref()
  }

  readonly #onTime = (): void => {
    this.#timer = null
    const now = performance.now()
    this.#send(this.#delayed.filter(({ due }) => due <= now).length)
    this.#schedule()
  }

  #send(count: number): void {
    const due = this.#delayed.splice(0, count)
    if (due.length > 0 && this.#delayed.length === 0) this.#stopAtExit()
    for (const { send } of due) send()
  }
}

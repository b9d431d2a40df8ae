import { AsyncResource } from 'node:async_hooks'
import { atExit } from '../../store/spool/at-exit.js'

const MOST_HELD = 1000

/**
 * Delays reports, so that a more detailed report of the same error can arrive first. Waiting reports are sent when the
 * process ends. The timer does not keep the process alive.
 */
export class HeldReports {
  readonly #patience_ms: number
  readonly #held: { send(): void; due: number }[] = []
  #timer: NodeJS.Timeout | null = null
  #stopAtExit = () => {}

  constructor(patience_ms: number) {
    this.#patience_ms = patience_ms
  }

  add(report: () => void): void {
    if (this.#held.length === 0) this.#stopAtExit = atExit('late_reports', this.sendAll)
    // Bound to its async context, so that it is sent in the scope of its request.
    this.#held.push({ send: AsyncResource.bind(report), due: performance.now() + this.#patience_ms })
    if (this.#held.length > MOST_HELD) this.#send(1)
    this.#schedule()
  }

  readonly sendAll = (): void => {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#send(this.#held.length)
  }

  #schedule(): void {
    const [next] = this.#held
    if (this.#timer || !next) return
    this.#timer = setTimeout(this.#onTime, Math.max(1, next.due - performance.now())).unref()
  }

  readonly #onTime = (): void => {
    this.#timer = null
    const now = performance.now()
    this.#send(this.#held.filter(({ due }) => due <= now).length)
    this.#schedule()
  }

  #send(count: number): void {
    const due = this.#held.splice(0, count)
    if (due.length > 0 && this.#held.length === 0) this.#stopAtExit()
    for (const { send } of due) send()
  }
}

import type { Log } from '../context.js'
import { withTimeout } from '../model/with-timeout.js'
import { failureReason, isReportedByRecorder } from './reason.js'
import { CONCURRENCY, type Timing, withEngineTimeout } from './timing.js'

/** Queue that a worker polls. A rejection means that the queue is unreachable. */
export interface WorkSource<Item extends { id: string | number }> {
  /** Name in log messages. */
  readonly title: string
  /** Consecutive failures before a warning is logged. */
  readonly failuresBeforeWarning: number
  /** Claims up to `limit` due items. No other worker gets them until the lease ends. */
  claim(limit: number): Promise<Item[]>
  /** Renews the leases of these items. Without it, an item must finish within one lease. */
  renewLeases?(items: readonly Item[]): Promise<void>
  /** Releases items for other workers immediately, without counting the attempt. */
  release(items: readonly Item[]): Promise<void>
  /** Releases items whose worker is gone. */
  releaseExpired(): Promise<void>
}

/** Runs an item and stores its result. Rejects if the result could not be stored; the lease then expires. */
export type RunItem<Item> = (item: Item, claim: Claim) => Promise<void>

export interface Claim {
  /** Aborted when the process must stop and cannot wait any longer. */
  signal: AbortSignal
  /** False after the lease expired or the item was released: its result must not be stored. */
  isHeld(): boolean
}

export interface WorkerParts<Item extends { id: string | number }> {
  source: WorkSource<Item>
  /** Noun for log messages. */
  items: 'jobs' | 'notifications'
  timing: Timing
  log: Log
}

interface ActiveItem<Item> {
  item: Item
  settled: Promise<void>
  abortController: AbortController
  /** Measured with `performance.now()`. */
  leaseRenewedAt: number
}

const MAX_POLL_DELAY_MS = 30_000
/** Time for an aborted item to stop. */
const ABORT_GRACE_MS = 500

/**
 * Claims items from a source and runs a few at a time. Polls instead of holding an open connection: it never keeps the
 * host process alive, and one connection is enough.
 */
export class Worker<Item extends { id: string | number }> {
  readonly #parts: WorkerParts<Item>
  readonly #running = new Map<Item['id'], ActiveItem<Item>>()
  #runItem: RunItem<Item> | null = null
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | null = null
  #shouldPollAgain = false
  #failures = 0
  #isOutageReported = false
  #expiredReleasedAt = -Infinity
  #stopped = false
  /** End of the grace period of a stopping process, by `performance.now()`. */
  #graceEndsAt: number | null = null
  #heartbeat: NodeJS.Timeout | undefined

  constructor(parts: WorkerParts<Item>) {
    this.#parts = parts
  }

  start(runItem: RunItem<Item>): void {
    this.#runItem = runItem
    this.#heartbeat ??= setInterval(() => void this.#renewLeases(), this.#parts.timing.leaseMs / 4).unref()
    this.wake()
  }

  /** Polls for items immediately. */
  wake(): void {
    if (!this.#runItem || this.#stopped) return
    if (this.#polling) this.#shouldPollAgain = true
    // An unreachable source is polled on schedule, even if items are added.
    else if (this.#failures === 0) this.#schedulePoll(0)
  }

  /** Runs due items until none are left or the grace period ends. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#runItem || this.#stopped) return
    // A poll that started earlier may have missed new items.
    await this.#polling
    while (this.#graceLeft() > 0 && !this.#stopped) {
      await this.#poll()
      if (this.#running.size === 0 || this.#failures > 0) return
      await this.#waitForItems(this.#graceLeft(), 'any')
    }
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#polling
    await this.#waitForItems(this.#graceLeft())
    for (const { abortController } of this.#running.values()) abortController.abort()
    await this.#waitForItems(ABORT_GRACE_MS)
    clearInterval(this.#heartbeat)
    await this.#release([...this.#running.values()].map(({ item }) => item))
    this.#running.clear()
  }

  #schedulePoll(delayMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#poll(), delayMs).unref()
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null
      if (this.#stopped) return
      this.#schedulePoll(this.#nextPollDelay())
      this.#shouldPollAgain = false
    })
    return this.#polling
  }

  #graceLeft(): number {
    this.#graceEndsAt ??= performance.now() + this.#parts.timing.graceMs
    return Math.max(0, this.#graceEndsAt - performance.now())
  }

  #nextPollDelay(): number {
    const { pollMs } = this.#parts.timing
    if (this.#failures > 0) return Math.min(MAX_POLL_DELAY_MS, pollMs * 2 ** this.#failures)
    return this.#shouldPollAgain ? 0 : pollMs
  }

  async #pollOnce(): Promise<void> {
    const { source, timing } = this.#parts
    try {
      if (performance.now() - this.#expiredReleasedAt >= timing.leaseMs / 4) {
        await this.#withTimeLimit(source.releaseExpired())
        this.#expiredReleasedAt = performance.now()
      }
      const freeSlots = CONCURRENCY - this.#running.size
      if (freeSlots === 0) return
      const items = await this.#claim(freeSlots)
      this.#noteSuccess()
      if (this.#stopped) return this.#release(items)
      for (const item of items) this.#start(item)
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  async #claim(limit: number): Promise<Item[]> {
    const claim = this.#parts.source.claim(limit)
    try {
      return await this.#withTimeLimit(claim)
    } catch (error) {
      // Items can arrive after the timeout and must be released.
      void claim.then((items) => this.#release(items)).catch(() => {})
      throw error
    }
  }

  #start(item: Item): void {
    const abortController = new AbortController()
    const leaseRenewedAt = performance.now()
    const active: ActiveItem<Item> = { item, abortController, leaseRenewedAt, settled: Promise.resolve() }
    this.#running.set(item.id, active)
    active.settled = this.#run(active).finally(() => {
      if (this.#isHeld(active)) this.#running.delete(item.id)
      this.wake()
    })
  }

  async #run(active: ActiveItem<Item>): Promise<void> {
    const { item, abortController } = active
    try {
      await this.#runItem?.(item, { signal: abortController.signal, isHeld: () => this.#isHeld(active) })
    } catch (error) {
      // The lease expires, and the item runs again.
      this.#noteFailure(error)
    }
  }

  #isHeld(active: ActiveItem<Item>): boolean {
    return this.#running.get(active.item.id) === active
  }

  async #renewLeases(): Promise<void> {
    const { source, timing } = this.#parts
    const activeItems = [...this.#running.values()]
    if (activeItems.length === 0) return
    const renewedAt = performance.now()
    try {
      if (source.renewLeases) {
        await this.#withTimeLimit(source.renewLeases(activeItems.map(({ item }) => item)))
        for (const active of activeItems) active.leaseRenewedAt = renewedAt
      }
    } catch (error) {
      this.#noteFailure(error)
    }
    for (const active of activeItems) {
      if (performance.now() - active.leaseRenewedAt > timing.leaseMs) this.#abandon(active)
    }
  }

  /** Aborts an item whose lease expired and frees its slot. Another worker may have claimed the item. */
  #abandon(active: ActiveItem<Item>): void {
    active.abortController.abort()
    if (this.#isHeld(active)) this.#running.delete(active.item.id)
  }

  async #release(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return
    // If this fails, the leases expire.
    await this.#withTimeLimit(this.#parts.source.release(items)).catch(() => {})
  }

  async #waitForItems(delayMs: number, mode: 'all' | 'any' = 'all'): Promise<void> {
    if (this.#running.size === 0) return
    const settled = [...this.#running.values()].map(({ settled }) => settled)
    const all: Promise<unknown> = mode === 'all' ? Promise.all(settled) : Promise.race(settled)
    await withTimeout(all, delayMs, { keepAlive: true }).catch(() => {})
  }

  #withTimeLimit<T>(response: Promise<T>): Promise<T> {
    const { source, timing } = this.#parts
    return withEngineTimeout(response, source.title, timing)
  }

  #noteFailure(error: unknown): void {
    const { log, source, items } = this.#parts
    this.#failures++
    if (this.#stopped || this.#failures !== source.failuresBeforeWarning || isReportedByRecorder(error)) return
    this.#isOutageReported = true
    log.warn(`Cannot fetch ${items} from ${source.title}: ${failureReason(error)}\n  Retrying.`)
  }

  #noteSuccess(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    if (!this.#isOutageReported) return
    this.#isOutageReported = false
    const { log, source, items } = this.#parts
    log.info(`${source.title} is available again. Resuming its ${items}.`)
  }
}

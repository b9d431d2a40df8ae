import type { Context } from '../../context.js'
import type { BudgetName } from '../../model/budgets.js'
import { applicationId } from '../../store/applications.js'
import { addUsage } from '../../store/counters/budget-usage.js'
import type { TimeLimitedRunner } from './time-limited.js'

export interface SharedBudgetOptions {
  budget: BudgetName | `${BudgetName}:counted` | 'client_releases_per_day'
  /** Length of the period in which the limit applies. */
  periodMs: number
  limit: number
  /** Limit of this process while the database is unreachable. Default: the same limit. */
  localLimit?: number
  /** Amount to reserve in the database at a time. */
  share: number
}

type BudgetContext = Pick<Context, 'config' | 'database' | 'ready' | 'now'>

/**
 * A limit shared by all processes. Each process reserves a share in the database before using it. A restart therefore
 * does not renew the limit, and a killed process wastes at most one share. While the database is unreachable, each
 * process counts on its own.
 */
export class SharedBudget {
  readonly #context: BudgetContext
  readonly #options: SharedBudgetOptions
  readonly #runTimeLimited: TimeLimitedRunner
  #period = 0
  #reserved = 0
  #usedLocally = 0
  #isSpent = false
  #reserving: Promise<boolean> | null = null

  constructor(context: BudgetContext, options: SharedBudgetOptions, runTimeLimited: TimeLimitedRunner) {
    this.#context = context
    this.#options = options
    this.#runTimeLimited = runTimeLimited
  }

  /** Uses an amount of the budget. Returns false if the amount exceeds the limit. Never rejects. */
  async take(amount: number): Promise<boolean> {
    for (;;) {
      this.#startPeriod()
      if (this.#reserved >= amount) {
        this.#reserved -= amount
        return true
      }
      if (this.#isSpent) return false
      this.#reserving ??= this.#reserve(amount).finally(() => {
        this.#reserving = null
      })
      if (!(await this.#reserving) && this.#reserved < amount) return false
    }
  }

  #startPeriod(): void {
    const now = this.#context.now()
    const period = now - (now % this.#options.periodMs)
    if (period === this.#period) return
    this.#period = period
    this.#reserved = 0
    this.#usedLocally = 0
    this.#isSpent = false
  }

  /** Returns false if nothing is left. */
  async #reserve(amount: number): Promise<boolean> {
    const period = this.#period
    const requested = Math.max(amount, this.#options.share)
    const { remaining, isShared } = await this.#remainingBefore(requested)
    if (period !== this.#period) return true
    // The last share can be smaller than requested.
    this.#reserved += Math.max(0, Math.min(requested, remaining))
    if (this.#reserved >= amount) return true
    // Without the database, the next call tries to reserve again.
    this.#isSpent = isShared
    return false
  }

  /** Remainder of the limit before this share was reserved. */
  async #remainingBefore(requested: number): Promise<{ remaining: number; isShared: boolean }> {
    const { limit, localLimit = limit } = this.#options
    try {
      const used = await this.#runTimeLimited(() => this.#reserveInDatabase(requested))
      return { remaining: limit - used, isShared: true }
    } catch {
      // The database is unreachable, or too slow.
      const remaining = localLimit - this.#usedLocally
      this.#usedLocally += Math.max(0, Math.min(requested, remaining))
      return { remaining, isShared: false }
    }
  }

  /** Returns the amount that all processes had reserved before this share. */
  async #reserveInDatabase(requested: number): Promise<number> {
    const { config, database, ready, now } = this.#context
    await ready()
    const application_id = await applicationId(database, config.application_name, now())
    const key = { application_id, budget: this.#options.budget, period: this.#period }
    const { amount } = await database.write((trx) => addUsage(trx, database.dialect, key, requested))
    return amount - requested
  }
}

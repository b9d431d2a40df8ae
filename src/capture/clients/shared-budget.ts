import type { Context } from '../../context.js'
import type { BudgetName } from '../../model/budgets.js'
import { applicationId } from '../../store/applications.js'
import { addUsage } from '../../store/counters/budget-usage.js'
import type { TimeLimited } from './time-limited.js'

export interface SharedBudgetOptions {
  budget: BudgetName | `${BudgetName}:counted` | 'client_releases_per_day'
  /** Length of the period in which the limit applies. */
  period_ms: number
  limit: number
  /** Limit of this process while the database is unreachable. Default: the same limit. */
  limit_alone?: number
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
  readonly #timeLimited: TimeLimited
  #period = 0
  #reserved = 0
  #used_alone = 0
  #is_spent = false
  #reserving: Promise<boolean> | null = null

  constructor(context: BudgetContext, options: SharedBudgetOptions, timeLimited: TimeLimited) {
    this.#context = context
    this.#options = options
    this.#timeLimited = timeLimited
  }

  /** Whether this amount is within the limit. Never rejects. */
  async take(amount: number): Promise<boolean> {
    for (;;) {
      this.#renew()
      if (this.#reserved >= amount) {
        this.#reserved -= amount
        return true
      }
      if (this.#is_spent) return false
      this.#reserving ??= this.#reserve(amount).finally(() => {
        this.#reserving = null
      })
      if (!(await this.#reserving) && this.#reserved < amount) return false
    }
  }

  #renew(): void {
    const now = this.#context.now()
    const period = now - (now % this.#options.period_ms)
    if (period === this.#period) return
    this.#period = period
    this.#reserved = 0
    this.#used_alone = 0
    this.#is_spent = false
  }

  /** Returns false if nothing is left. */
  async #reserve(amount: number): Promise<boolean> {
    const period = this.#period
    const wanted = Math.max(amount, this.#options.share)
    const { left, is_shared } = await this.#leftBefore(wanted)
    if (period !== this.#period) return true
    // The last share can be smaller than requested.
    this.#reserved += Math.max(0, Math.min(wanted, left))
    if (this.#reserved >= amount) return true
    // Without the database, this only applies until it is reachable again.
    this.#is_spent = is_shared
    return false
  }

  /** Remainder of the limit before this share was reserved. */
  async #leftBefore(wanted: number): Promise<{ left: number; is_shared: boolean }> {
    const { limit, limit_alone = limit } = this.#options
    try {
      const used = await this.#timeLimited(() => this.#reserveInDatabase(wanted))
      return { left: limit - used, is_shared: true }
    } catch {
      // The database is unreachable, or too slow.
      const left = limit_alone - this.#used_alone
      this.#used_alone += Math.max(0, Math.min(wanted, left))
      return { left, is_shared: false }
    }
  }

  /** Returns the amount that all processes had reserved before this share. */
  async #reserveInDatabase(wanted: number): Promise<number> {
    const { config, database, ready, now } = this.#context
    await ready()
    const application_id = await applicationId(database, config.application_name, now())
    const key = { application_id, budget: this.#options.budget, period: this.#period }
    const { amount } = await database.write((trx) => addUsage(trx, database.dialect, key, wanted))
    return amount - wanted
  }
}

import type { Context } from '../../context.js'
import type { BudgetName } from '../../model/budgets.js'
import { applicationId } from '../../store/applications.js'
import { addUsage } from '../../store/budget-usage.js'

export interface SharedBudgetOptions {
  budget: BudgetName
  /** Length of the period in which the limit applies. */
  period_ms: number
  limit: number
  /** Reserved in the database at a time. */
  share: number
}

type BudgetContext = Pick<Context, 'config' | 'database' | 'ready' | 'now'>

/** A database that is slower than this must not delay the client; the process then counts on its own. */
const PATIENCE_MS = 2000

/**
 * A limit that all processes share. Each process reserves a share in the database before it uses it. A restart therefore
 * does not renew the limit, and a killed process wastes at most one share. While the database is unreachable, the process
 * counts against the same limit on its own.
 */
export class SharedBudget {
  readonly #context: BudgetContext
  readonly #options: SharedBudgetOptions
  #period = 0
  #reserved = 0
  #used_alone = 0
  #is_spent = false
  #reserving: Promise<void> | null = null

  constructor(context: BudgetContext, options: SharedBudgetOptions) {
    this.#context = context
    this.#options = options
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
      await this.#reserving
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

  async #reserve(amount: number): Promise<void> {
    const { limit, share } = this.#options
    const period = this.#period
    const wanted = Math.max(amount, share)
    const used = await this.#usedBefore(wanted)
    if (period !== this.#period) return
    // The last share may be a part of what was asked for.
    this.#reserved += Math.max(0, Math.min(wanted, limit - used))
    this.#is_spent = this.#reserved < amount
  }

  /** What all processes had reserved before this share. */
  async #usedBefore(wanted: number): Promise<number> {
    try {
      return await inTime(this.#reserveInDatabase(wanted))
    } catch {
      // The database is unreachable, or too slow.
      this.#used_alone += wanted
      return this.#used_alone - wanted
    }
  }

  async #reserveInDatabase(wanted: number): Promise<number> {
    const { config, database, ready, now } = this.#context
    await ready()
    const application_id = await applicationId(database, config.application_name, now())
    const key = { application_id, budget: this.#options.budget, period: this.#period }
    const { amount } = await database.write((trx) => addUsage(trx, database.dialect, key, wanted))
    return amount - wanted
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PATIENCE_MS)
    timer.unref()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

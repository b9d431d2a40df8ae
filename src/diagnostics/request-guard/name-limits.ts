import { FrequentNames, OTHERS } from '../../model/frequent-names.js'
import { startOfHour } from '../../model/time.js'

export interface GuardNames {
  kind: string
  rule: string
  ip_address: string
  path: string
}

const MAX_RULES = 50
const MAX_ADDRESSES = 50
const MAX_PATHS = 50
const MAX_PAIRS = 100

/** The names of one rule that get their own rows. */
interface RuleLimits {
  addresses: FrequentNames
  paths: FrequentNames
  pairs: FrequentNames
}

/**
 * Limits the rows that an attack can create. Per rule and hour, a limited number of addresses and paths get their own
 * rows; the rest is combined. Every event is counted.
 */
export class NameLimits {
  #hour = 0
  #rules = new FrequentNames(MAX_RULES)
  readonly #limits = new Map<string, RuleLimits>()

  /** Replaces the names beyond the limits. */
  apply(time: number, { kind, rule, ip_address, path }: GuardNames): GuardNames {
    if (startOfHour(time) !== this.#hour) {
      this.#hour = startOfHour(time)
      this.#rules = new FrequentNames(MAX_RULES)
      this.#limits.clear()
    }
    const ruleName = this.#rules.admits(rule) ? rule : OTHERS
    const { addresses, paths, pairs } = this.#limitsOf(`${kind} ${ruleName}`)
    const address = addresses.admits(ip_address) ? ip_address : OTHERS
    const pathName = paths.admits(path) ? path : OTHERS
    // 50 addresses and 50 paths could still make 2,500 rows.
    const hasOwnRow = pairs.admits(`${address}\0${pathName}`)
    return { kind, rule: ruleName, ip_address: address, path: hasOwnRow ? pathName : OTHERS }
  }

  #limitsOf(key: string): RuleLimits {
    let limits = this.#limits.get(key)
    if (!limits) {
      limits = {
        addresses: new FrequentNames(MAX_ADDRESSES),
        paths: new FrequentNames(MAX_PATHS),
        pairs: new FrequentNames(MAX_PAIRS),
      }
      this.#limits.set(key, limits)
    }
    return limits
  }
}

import { FrequentNames } from '../../model/frequent-names.js'
import { OTHERS } from '../../model/others.js'
import { hourOf } from '../../model/time.js'

export interface GuardNames {
  kind: string
  rule: string
  ip_address: string
  path: string
}

const MOST_RULES = 50
const MOST_ADDRESSES = 50
const MOST_PATHS = 50
const MOST_PAIRS = 100

/** Of one rule: who and what is told apart. */
interface Crowd {
  addresses: FrequentNames
  paths: FrequentNames
  pairs: FrequentNames
}

/**
 * Keeps an attack small: of each rule and hour, only so many addresses and paths have rows of their own, and all others
 * are counted together. Nothing goes uncounted.
 */
export class GuardCrowd {
  #hour = 0
  #rules = new FrequentNames(MOST_RULES)
  readonly #crowds = new Map<string, Crowd>()

  narrowed(time: number, { kind, rule, ip_address, path }: GuardNames): GuardNames {
    if (hourOf(time) !== this.#hour) {
      this.#hour = hourOf(time)
      this.#rules = new FrequentNames(MOST_RULES)
      this.#crowds.clear()
    }
    const named_rule = this.#rules.admits(rule) ? rule : OTHERS
    const { addresses, paths, pairs } = this.#crowdOf(`${kind} ${named_rule}`)
    const address = addresses.admits(ip_address) ? ip_address : OTHERS
    const named_path = paths.admits(path) ? path : OTHERS
    // Each may be told apart, and still not each together with each.
    const is_pair = pairs.admits(`${address}\0${named_path}`)
    return { kind, rule: named_rule, ip_address: address, path: is_pair ? named_path : OTHERS }
  }

  #crowdOf(key: string): Crowd {
    let crowd = this.#crowds.get(key)
    if (!crowd) {
      crowd = {
        addresses: new FrequentNames(MOST_ADDRESSES),
        paths: new FrequentNames(MOST_PATHS),
        pairs: new FrequentNames(MOST_PAIRS),
      }
      this.#crowds.set(key, crowd)
    }
    return crowd
  }
}

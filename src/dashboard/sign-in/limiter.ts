import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { MINUTE } from '../../model/time.js'
import { isOpenWindow, type Verdict } from '../http/rate-limit.js'

/** A sign-in attempt of any scheme, such as a password, an API token or a host callback. */
export interface SignInAttempt {
  /** Account name as the client sent it. Empty for schemes without names. */
  name: string
  /** Secret as the client sent it. The limiter stores only a keyed digest, for one minute. */
  secret: string
  /** Client network, from `clientNetwork`. */
  network: string
  /** Id of a verified device cookie; null for an unknown client. */
  device: string | null
}

/** Thrown instead of verifying an attempt. */
export class SignInLimitedError extends Error {
  readonly verdict: Verdict

  constructor(verdict: Verdict) {
    super('too many failed sign-ins')
    this.verdict = verdict
  }
}

/**
 * Distinct wrong secrets per minute for one name in one network, or on one known device. Also limits repeats of the
 * same wrong secret. Repeats do not count as distinct, so that a script with an old password does not lock out other
 * clients.
 */
export const MAX_WRONG_SECRETS = 20
/** Distinct wrong pairs per minute in one network. Limits guessing of many names. */
export const MAX_WRONG_PAIRS_PER_NETWORK = 100
/** Distinct wrong pairs per minute in total. Above this limit, attempts by unknown clients are delayed. */
export const MAX_WRONG_PAIRS_BEFORE_DELAY = 200
/** Short enough for a person to wait, and for the timeouts of clients and proxies. */
const DELAY_MS = 2000
/** With the delay, limits unknown clients to 300 attempts a minute and bounds the connections held. */
const MAX_DELAYED_REQUESTS = 10
/** Bounds the memory to a few megabytes during a distributed attack. */
const MAX_WINDOWS = 5000

interface AccountWindow {
  ends: number
  /** Failures by pair. Zero while the first attempt is being verified. */
  failures: Map<string, number>
}

interface CountWindow {
  ends: number
  count: number
}

/**
 * Limits password guessing without locking out known devices. While a name is limited in a network, even the correct
 * secret is rejected. Otherwise an attacker could keep guessing. Counters belong to one process.
 */
export class SignInLimiter {
  readonly #now: () => number
  readonly #wait: (ms: number) => Promise<void>
  readonly #digestKey = randomBytes(32)
  readonly #accounts = new Map<string, AccountWindow>()
  readonly #networks = new Map<string, CountWindow>()
  readonly #delayedNetworks = new Set<string>()
  readonly #closed = new AbortController()
  #total: CountWindow = { ends: 0, count: 0 }

  constructor(now: () => number, waitFor?: (ms: number) => Promise<void>) {
    this.#now = now
    this.#wait = waitFor ?? ((ms) => wait(ms, undefined, { ref: false, signal: this.#closed.signal }))
  }

  /**
   * Verifies an attempt unless it is limited. Counts the attempt as failed before `verify` runs, so that parallel
   * requests cannot exceed the limit. For a pair that has failed before, calls `recheck` instead, because the host may
   * accept the pair later.
   *
   * @throws SignInLimitedError
   */
  async attempt<User>(
    attempt: SignInAttempt,
    verify: () => User | null | Promise<User | null>,
    recheck: () => User | null | Promise<User | null> = () => null,
  ): Promise<User | null> {
    const pair = this.#digest('pair', attempt.name, attempt.secret)
    let account = this.#admit(attempt, pair)
    if (this.#isKnownWrong(account, pair)) return recheck()
    if (attempt.device === null && this.#totalWindow().count >= MAX_WRONG_PAIRS_BEFORE_DELAY) {
      await this.#delay(attempt.network)
      account = this.#admit(attempt, pair)
    }
    const isFirst = !account.failures.has(pair)
    if (isFirst) account.failures.set(pair, 0)
    const network = attempt.device === null ? this.#networkWindow(attempt.network) : null
    if (isFirst && network) network.count += 1
    const release = () => {
      account.failures.delete(pair)
      if (isFirst && network) network.count -= 1
    }
    try {
      const user = await verify()
      if (user !== null) release()
      else {
        account.failures.set(pair, 1)
        if (isFirst) this.#totalWindow().count += 1
      }
      return user
    } catch (error) {
      release()
      throw error
    }
  }

  /** Checks whether the pair has failed before. Throws if the pair has been repeated too often. */
  #isKnownWrong({ failures, ends }: AccountWindow, pair: string): boolean {
    const count = failures.get(pair) ?? 0
    if (count >= MAX_WRONG_SECRETS) throw this.#limitError(ends, MAX_WRONG_SECRETS)
    if (count > 0) failures.set(pair, count + 1)
    return count > 0
  }

  /** Ends every delay, so that no request keeps a closing server open. */
  close(): void {
    this.#closed.abort()
  }

  /** Returns the window of the account, or throws when the account or its network is exhausted. */
  #admit(attempt: SignInAttempt, pair: string): AccountWindow {
    const account = this.#accountWindow(attempt)
    if (account.failures.size >= MAX_WRONG_SECRETS && !account.failures.has(pair)) {
      throw this.#limitError(account.ends, MAX_WRONG_SECRETS)
    }
    if (attempt.device !== null) return account
    const network = this.#networkWindow(attempt.network)
    if (network.count >= MAX_WRONG_PAIRS_PER_NETWORK && !account.failures.has(pair)) {
      throw this.#limitError(network.ends, MAX_WRONG_PAIRS_PER_NETWORK)
    }
    return account
  }

  /** Holds at most one request per network, so that one attacker cannot occupy every slot. */
  async #delay(network: string): Promise<void> {
    const refused = this.#limitError(this.#now() + DELAY_MS, MAX_WRONG_PAIRS_BEFORE_DELAY)
    if (this.#delayedNetworks.size >= MAX_DELAYED_REQUESTS || this.#delayedNetworks.has(network)) throw refused
    this.#delayedNetworks.add(network)
    try {
      await this.#wait(DELAY_MS)
    } catch {
      // The dashboard was closed.
      throw refused
    } finally {
      this.#delayedNetworks.delete(network)
    }
  }

  #accountWindow({ name, network, device }: SignInAttempt): AccountWindow {
    const key = this.#digest('account', name, device === null ? `network ${network}` : `device ${device}`)
    return this.#openWindow(this.#accounts, key, (ends) => ({ ends, failures: new Map() }))
  }

  #networkWindow(network: string): CountWindow {
    return this.#openWindow(this.#networks, network, (ends) => ({ ends, count: 0 }))
  }

  #totalWindow(): CountWindow {
    if (!isOpenWindow(this.#total, this.#now())) this.#total = { ends: this.#now() + MINUTE, count: 0 }
    return this.#total
  }

  #openWindow<Window extends { ends: number }>(
    windows: Map<string, Window>,
    key: string,
    create: (ends: number) => Window,
  ): Window {
    const known = windows.get(key)
    if (known && isOpenWindow(known, this.#now())) return known
    windows.delete(key)
    const [oldest] = windows.keys()
    if (windows.size >= MAX_WINDOWS && oldest !== undefined) windows.delete(oldest)
    const window = create(this.#now() + MINUTE)
    windows.set(key, window)
    return window
  }

  #limitError(ends: number, limit: number): SignInLimitedError {
    const reset = Math.max(1, Math.ceil((ends - this.#now()) / 1000))
    return new SignInLimitedError({ allowed: false, limit, remaining: 0, reset })
  }

  /**
   * Short and keyed, because wrong passwords are often almost right and must not be recoverable from a heap snapshot.
   */
  #digest(kind: string, ...parts: readonly string[]): string {
    const digest = createHmac('sha256', this.#digestKey)
    for (const part of [kind, ...parts]) digest.update(`${part.length}:`).update(part)
    return digest.digest('base64url').slice(0, 16)
  }
}

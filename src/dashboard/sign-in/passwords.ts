import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DashboardUser } from '../../config/kinds.js'
import { deriveKey } from '../../model/people/derive-key.js'
import type { Identity } from '../../model/people/identity.js'
import { type PasswordHash, parsePasswordHash } from '../../model/people/password-hash.js'
import { areSameCredentials, type Credentials } from './basic.js'
import { SignInLimitedError } from './limiter.js'

interface Account {
  identity: Identity
  hash: PasswordHash
}

/** Leaves threads to the host, whose thread pool has four threads by default and also reads files. */
const MAX_CONCURRENT = 2
/** Bounds the time and memory of a distributed attack. */
const MAX_WAITING = 50

/** Verifies names and passwords of the shared account and of `dashboard_users`. */
export class Passwords {
  readonly #shared: Credentials | null
  readonly #accounts: ReadonlyMap<string, Account>
  /** Decoy that matches no password. Its verification makes unknown names as slow as known names. */
  readonly #decoy: PasswordHash | null
  readonly #digestKey = randomBytes(32)
  /** Digests of verified passwords by name, because deriving a key takes 100 ms of CPU time. */
  readonly #verified = new Map<string, Buffer>()
  /** Pending verifications by digest. A page and its assets arrive together. */
  readonly #pending = new Map<string, Promise<boolean>>()

  constructor(shared: Credentials | null, users: readonly DashboardUser[]) {
    this.#shared = shared
    this.#accounts = new Map(users.map((user) => [user.name.normalize('NFC'), toAccount(user)]))
    const [first] = this.#accounts.values()
    this.#decoy = first ? { ...first.hash, salt: randomBytes(16) } : null
  }

  get areConfigured(): boolean {
    return this.#shared !== null || this.#decoy !== null
  }

  /** Secret that signs the device cookies of a name. */
  deviceSecret(name: string): Credentials | Buffer {
    return this.#accounts.get(name.normalize('NFC'))?.hash.key ?? this.#shared ?? this.#digestKey
  }

  async verify(credentials: Credentials): Promise<Identity | null> {
    if (this.#shared && areSameCredentials(credentials, this.#shared)) return sharedIdentity(this.#shared.username)
    if (!this.#decoy) return null
    const name = credentials.username.normalize('NFC')
    const account = this.#accounts.get(name)
    const isCorrect = await this.#isCorrect(name, credentials.password.normalize('NFC'), account?.hash ?? this.#decoy)
    return account && isCorrect ? account.identity : null
  }

  async #isCorrect(name: string, password: string, hash: PasswordHash): Promise<boolean> {
    const digest = this.#digest(name, password)
    const verified = this.#verified.get(name)
    if (verified && timingSafeEqual(verified, digest)) return true
    const key = digest.toString('base64url')
    const pending = this.#pending.get(key) ?? this.#derive(name, password, hash, digest)
    this.#pending.set(key, pending)
    try {
      return await pending
    } finally {
      this.#pending.delete(key)
    }
  }

  async #derive(name: string, password: string, hash: PasswordHash, digest: Buffer): Promise<boolean> {
    const isCorrect = timingSafeEqual(await runWhenFree(() => deriveKey(password, hash)), hash.key)
    // The decoy combines the key of a real hash with another salt, so that no password matches.
    if (isCorrect) this.#verified.set(name, digest)
    return isCorrect
  }

  /** Keyed, so that a heap snapshot contains no guessable digests. */
  #digest(name: string, password: string): Buffer {
    return createHmac('sha256', this.#digestKey).update(`${name.length}:${name}${password}`).digest()
  }
}

function toAccount({ name, role, email = null, password_hash }: DashboardUser): Account {
  // The configuration is already validated.
  const hash = parsePasswordHash(password_hash) as PasswordHash
  return { hash, identity: { name, role, email, kind: 'password', is_shared: false } }
}

function sharedIdentity(name: string): Identity {
  return { name, role: 'admin', email: null, kind: 'password', is_shared: true }
}

let runningCount = 0
const waitingTasks: (() => void)[] = []

/** Limits concurrent work of all trackers of the process. */
async function runWhenFree<T>(work: () => Promise<T>): Promise<T> {
  if (runningCount < MAX_CONCURRENT) runningCount += 1
  else if (waitingTasks.length < MAX_WAITING) await new Promise<void>((resume) => waitingTasks.push(resume))
  else throw new SignInLimitedError({ allowed: false, limit: MAX_WAITING, remaining: 0, reset: 1 })
  try {
    return await work()
  } finally {
    // The next waiting task takes over the slot.
    const next = waitingTasks.shift()
    if (next) next()
    else runningCount -= 1
  }
}

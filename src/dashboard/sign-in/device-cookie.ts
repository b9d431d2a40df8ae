import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { DAY } from '../../model/time.js'
import { cookieHeader, readCookie } from '../http/cookies.js'
import type { Credentials } from './basic.js'

const COOKIE = 'faultboard_device'
const LIFETIME_MS = 180 * DAY
/** Renews the cookie of a regular visitor long before it expires. */
const RENEW_AFTER_MS = 30 * DAY
const deriveKey = promisify<string, string, number, Buffer>(scrypt)

export interface Device {
  id: string
  needs_renewal: boolean
}

/**
 * Signed cookies of browsers that have signed in before. A known device has its own limit of failed sign-ins,
 * unaffected by strangers at the same address. The cookie is not a credential.
 */
export class DeviceCookies {
  readonly #secretFor: (name: string) => Credentials | Buffer
  readonly #now: () => number

  /** `secretFor` returns the password of a name, or an unguessable key. */
  constructor(secretFor: (name: string) => Credentials | Buffer, now: () => number) {
    this.#secretFor = secretFor
    this.#now = now
  }

  /** Derives the key of a name in the thread pool, so that the first page waits less. */
  prepare(name: string): void {
    this.#keyOf(name).catch(() => {})
  }

  /** Returns the device whose cookie was signed for this name, or null. */
  async verify(cookies: string | null, name: string): Promise<Device | null> {
    const [, id, issuedAt, signature] =
      /^([\w-]{22})\.([\da-z]{1,9})\.([\w-]{43})$/.exec(readCookie(cookies, COOKIE) ?? '') ?? []
    if (!id || !issuedAt || !signature) return null
    const age = this.#now() - Number.parseInt(issuedAt, 36) * 1000
    if (age > LIFETIME_MS) return null
    const expected = await this.#sign(name, id, issuedAt)
    if (expected === null || !timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) return null
    return { id, needs_renewal: age > RENEW_AFTER_MS }
  }

  /** Returns a `Set-Cookie` header for the device on which this name has signed in. Null without a key. */
  async issue(name: string, { path, secure }: { path: string; secure: boolean }): Promise<string | null> {
    const id = randomBytes(16).toString('base64url')
    const issuedAt = Math.floor(this.#now() / 1000).toString(36)
    const signature = await this.#sign(name, id, issuedAt)
    if (signature === null) return null
    // Lax, so that a link in a chat message opens the dashboard with the cookie.
    const attributes = { path, seconds: LIFETIME_MS / 1000, secure, same_site: 'Lax' } as const
    return cookieHeader(COOKIE, `${id}.${issuedAt}.${signature}`, attributes)
  }

  async #sign(name: string, id: string, issuedAt: string): Promise<string | null> {
    try {
      const key = await this.#keyOf(name)
      return createHmac('sha256', key)
        .update(`${id}.${issuedAt}.${name.normalize('NFC')}`)
        .digest('base64url')
    } catch {
      // Deriving the key may run out of memory. The device then counts as unknown.
      return null
    }
  }

  async #keyOf(name: string): Promise<Buffer> {
    const secret = this.#secretFor(name)
    if (Buffer.isBuffer(secret)) return secret
    return deriveFrom(secret.username.normalize('NFC'), secret.password.normalize('NFC'))
  }
}

/** Cached, because deriving a key takes 50 ms of CPU time. Trackers of one process usually share their credentials. */
let cachedKey: { username: string; password: string; key: Promise<Buffer> } | null = null

/**
 * Derives the key from the credentials, so that every process uses the same key, even after a restart. A new password
 * invalidates all cookies. With scrypt, a stolen cookie is as hard to crack as a stolen password hash.
 */
function deriveFrom(username: string, password: string): Promise<Buffer> {
  if (cachedKey?.username === username && cachedKey.password === password) return cachedKey.key
  const derived = { username, password, key: deriveKey(password, `faultboard device cookie 1 ${username}`, 32) }
  cachedKey = derived
  derived.key.catch(() => {
    if (cachedKey === derived) cachedKey = null
  })
  return derived.key
}

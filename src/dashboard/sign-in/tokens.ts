import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { hashToken, isSameHash } from '../../model/people/api-token.js'
import type { Identity, Role } from '../../model/people/identity.js'
import { MINUTE } from '../../model/time.js'
import { expiryTime, findApiToken, isExpired, recordTokenUse } from '../../people/api-tokens.js'

/** Moves the write of `last_used_at` out of the response, and combines tokens used at the same time. */
const WRITE_DELAY_MS = 200

const NEXT_STEP = 'Ask an admin of this dashboard for a new token.'

interface KnownToken {
  /** Null for a token of the option `api_tokens`. */
  id: number | null
  name: string
  role: Role
  expires_at: number | null
  last_used_at: number | null
  revoked_at: number | null
}

/** Checks whether the client sent a token, well-formed or not. */
export function isBearer(header: string): boolean {
  return /^bearer\b/i.test(header)
}

/** Returns the credential of an `Authorization: Bearer` header, or null. */
export function bearerCredential(header: string): string | null {
  return /^bearer +([\w.~+/=-]{1,4096})\s*$/i.exec(header)?.[1] ?? null
}

/** Verifies API tokens of the option `api_tokens` and of the database. */
export class ApiTokens {
  readonly #context: Context
  /** Hashes of tokens that were valid in this process. */
  readonly #verified = new Set<string>()
  /** Times of the last writes by token id. Limits retries while the database rejects writes. */
  readonly #recorded = new Map<number, number>()
  readonly #used = new Set<number>()
  #timer: NodeJS.Timeout | null = null

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Checks whether the token was valid before. The sign-in limiter treats the client of such a token as a known device.
   */
  wasValid(token: string): boolean {
    return this.#verified.has(hashToken(token))
  }

  /** Reads the database on every request, so that a revoked token stops working immediately. */
  async verify(token: string): Promise<Identity | TrackerError> {
    const hash = hashToken(token)
    const found = this.#findSetting(hash) ?? (await this.#findStored(hash))
    const problem = found && tokenProblem(found, this.#context.now())
    if (!found || problem) {
      this.#verified.delete(hash)
      return problem ?? unknownToken()
    }
    this.#verified.add(hash)
    if (found.id !== null) this.#recordUse(found.id, found.last_used_at)
    return { name: found.name, role: found.role, email: null, kind: 'token', is_shared: false }
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** Compares with all tokens of the option, so that the time does not depend on the position. */
  #findSetting(hash: string): KnownToken | null {
    const [setting] = this.#context.config.api_tokens.filter(({ token_hash }) => isSameHash(token_hash, hash))
    if (!setting) return null
    return { ...setting, id: null, expires_at: expiryTime(setting), last_used_at: null, revoked_at: null }
  }

  async #findStored(hash: string): Promise<KnownToken | null> {
    const row = await findApiToken(this.#context, hash)
    return row && isSameHash(row.token_hash, hash) ? row : null
  }

  #recordUse(id: number, lastUsedAt: number | null): void {
    const last = Math.max(lastUsedAt ?? 0, this.#recorded.get(id) ?? 0)
    if (this.#context.now() - last < MINUTE) return
    this.#used.add(id)
    this.#timer ??= setTimeout(() => this.#writeUses(), WRITE_DELAY_MS).unref()
  }

  #writeUses(): void {
    const ids = [...this.#used]
    const time = this.#context.now()
    this.#used.clear()
    this.#timer = null
    for (const id of ids) this.#recorded.set(id, time)
    // Ignored, because the next use after a minute writes again.
    recordTokenUse(this.#context, ids, time).catch(() => {})
  }
}

/** Error with the reason of the rejection, which the holder of the secret may know. */
function tokenProblem({ name, expires_at, revoked_at }: KnownToken, now: number): TrackerError | null {
  if (revoked_at !== null)
    return rejectedToken(`The API token "${name}" was revoked on ${day(revoked_at)}. ${NEXT_STEP}`)
  if (expires_at !== null && isExpired(expires_at, now))
    return rejectedToken(`The API token "${name}" expired on ${day(expires_at)}. ${NEXT_STEP}`)
  return null
}

export function unknownToken(): TrackerError {
  return rejectedToken(`Unknown API token. Check that it is complete. ${NEXT_STEP}`)
}

function rejectedToken(message: string): TrackerError {
  return new TrackerError('unauthenticated', message)
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

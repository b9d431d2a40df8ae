import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Identifies a token to people, secret scanners and the redactor. */
const PREFIX = 'fb_'
const SECRET_BYTES = 32
const HASH_PREFIX = 'sha256:'

export function generateToken(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`
}

/**
 * Creates the value of `token_hash`. A fast hash is enough: a token has 256 random bits, so that neither guessing nor a
 * table of hashes can find it. scrypt protects passwords, which people choose, and would slow down every request.
 */
export function hashToken(token: string): string {
  return `${HASH_PREFIX}${createHash('sha256').update(token).digest('hex')}`
}

export function isTokenHash(value: unknown): value is string {
  return typeof value === 'string' && /^sha256:[\da-f]{64}$/.test(value)
}

/** Compares in constant time, so that the duration reveals nothing about the stored hash. */
export function isSameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.byteLength === right.byteLength && timingSafeEqual(left, right)
}

/** Returns true if a credential is a token of Faultboard, rather than of the host. */
export function isApiToken(credential: string): boolean {
  return credential.startsWith(PREFIX)
}

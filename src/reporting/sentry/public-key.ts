import { createHash, timingSafeEqual } from 'node:crypto'

/** Keys that may report, or a function that checks a key. */
export type PublicKeys = readonly string[] | ((public_key: string, project_id: string) => boolean | Promise<boolean>)

const MAX_KEY_LENGTH = 200

/** Reads the public key of a DSN from the SDK's own header, the Authorization header, or the query. */
export function requestKey(headers: Headers, query: URLSearchParams): string | null {
  const header = headers.get('x-sentry-auth') ?? sentryAuthorization(headers.get('authorization'))
  const headerKey = /\bsentry_key=([^,\s]+)/.exec(header?.slice(0, 2000) ?? '')?.[1]
  return keyWithinLimit(headerKey ?? query.get('sentry_key'))
}

/** Reads the public key of a DSN in the header of an envelope, for requests through a tunnel. */
export function dsnKey(dsn: unknown): string | null {
  return typeof dsn === 'string' && dsn.length < 2000 && URL.canParse(dsn)
    ? keyWithinLimit(new URL(dsn).username)
    : null
}

/** Checks whether the key may report. Compares all keys in constant time to prevent timing attacks. */
export async function isAllowed(keys: PublicKeys, key: string, project_id: string): Promise<boolean> {
  if (typeof keys === 'function') return (await keys(key, project_id)) === true
  const keyDigest = digest(key)
  return keys.reduce((found, allowedKey) => timingSafeEqual(digest(allowedKey), keyDigest) || found, false)
}

function sentryAuthorization(header: string | null): string | null {
  return header && /^sentry\s/i.test(header) ? header : null
}

function keyWithinLimit(key: string | null | undefined): string | null {
  return key && key.length <= MAX_KEY_LENGTH ? key : null
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

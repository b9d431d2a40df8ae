import { createHash, timingSafeEqual } from 'node:crypto'

export interface Credentials {
  username: string
  password: string
}

/** No browser or script sends more; decoding a longer header is wasted work. */
const MAX_ENCODED_LENGTH = 4096

/** Parses an `Authorization` header; null when it does not contain well-formed Basic credentials. */
export function basicCredentials(header: string): Credentials | null {
  const encoded = /^basic +([a-z0-9+/]+={0,2})\s*$/i.exec(header)?.[1]
  if (!encoded || encoded.length > MAX_ENCODED_LENGTH) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Compares digests of equal length in constant time, so that timing reveals nothing about either value. */
export function areSameCredentials(credentials: Credentials, expected: Credentials): boolean {
  const isSameName = isSameText(credentials.username, expected.username)
  const isSamePassword = isSameText(credentials.password, expected.password)
  return isSameName && isSamePassword
}

function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text.normalize('NFC')).digest()
}

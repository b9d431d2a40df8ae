import { createHash, timingSafeEqual } from 'node:crypto'

export interface Credentials {
  username: string
  password: string
}

export const CHALLENGE = 'Basic realm="Faultboard", charset="UTF-8"'

/** The user's name when the header carries the right credentials, else null. */
export function signedInUser(header: string | null, expected: Credentials): string | null {
  const given = parseBasic(header)
  if (!given) return null
  // Both are compared in full and by digests of one length: the time taken tells nothing about either.
  const nameFits = sameText(given.username, expected.username)
  const passwordFits = sameText(given.password, expected.password)
  return nameFits && passwordFits ? expected.username : null
}

function parseBasic(header: string | null): Credentials | null {
  const encoded = /^basic ([a-z0-9+/]+={0,2})\s*$/i.exec(header ?? '')?.[1]
  if (!encoded || encoded.length > 4096) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text.normalize('NFC')).digest()
}

/** Parts of the text `scrypt:N:r:p:salt:key`. Without `$`, which shells and .env files replace. */
export interface PasswordHash {
  readonly parameters: { readonly N: number; readonly r: number; readonly p: number }
  readonly salt: Buffer
  readonly key: Buffer
}

/** Weaker parameters are rejected. Stronger parameters would take too much of the host's memory or time. */
const MIN_N = 2 ** 14
const MAX_N = 2 ** 18
const MIN_R = 8
const MAX_R = 32
const MAX_P = 16
const MAX_MEMORY_BYTES = 256 * 1024 * 1024

/** Returns null for text in another format or with parameters outside the limits. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const [, n, r, p, salt = '', key = ''] =
    /^scrypt:(\d{1,7}):(\d{1,2}):(\d{1,2}):([\w-]{22,86}):([\w-]{43,86})$/.exec(text) ?? []
  const parameters = { N: Number(n), r: Number(r), p: Number(p) }
  if (!areAllowed(parameters)) return null
  return { parameters, salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') }
}

function areAllowed({ N, r, p }: PasswordHash['parameters']): boolean {
  const isPowerOfTwo = Number.isInteger(Math.log2(N))
  if (!isPowerOfTwo || N < MIN_N || N > MAX_N || !(r >= MIN_R && r <= MAX_R && p >= 1 && p <= MAX_P)) return false
  return memoryBytes({ N, r, p }) <= MAX_MEMORY_BYTES
}

/** Memory that a derivation needs. */
export function memoryBytes({ N, r, p }: PasswordHash['parameters']): number {
  return 128 * N * r + 128 * r * p
}

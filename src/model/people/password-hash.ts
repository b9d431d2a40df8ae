import { randomBytes, scrypt } from 'node:crypto'

/** Parts of the text `scrypt:N:r:p:salt:key`. Without `$`, which shells and .env files replace. */
export interface PasswordHash {
  readonly parameters: { readonly N: number; readonly r: number; readonly p: number }
  readonly salt: Buffer
  readonly key: Buffer
}

/** Parameters of OWASP that use the least memory of the host: 16 MB. */
const PARAMETERS = { N: 2 ** 14, r: 8, p: 5 } as const
const SALT_BYTES = 16
const KEY_BYTES = 32

/** Weaker parameters are rejected. Stronger ones would take too much memory or time of the host. */
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

function memoryBytes({ N, r, p }: PasswordHash['parameters']): number {
  return 128 * N * r + 128 * r * p
}

/** Creates the value of `password_hash`. */
export async function hashPassword(
  password: string,
  parameters: PasswordHash['parameters'] = PARAMETERS,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await deriveKey(password, { parameters, salt, key: Buffer.alloc(KEY_BYTES) })
  const { N, r, p } = parameters
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join(':')
}

/** Derives a key in the thread pool, with the parameters, salt and length of the hash. */
export function deriveKey(password: string, { parameters, salt, key }: PasswordHash): Promise<Buffer> {
  // Node.js counts slightly more than the formula.
  const options = { ...parameters, maxmem: 2 * memoryBytes(parameters) }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, key.byteLength, options, (error, derivedKey) =>
      error ? reject(error) : resolve(derivedKey),
    )
  })
}

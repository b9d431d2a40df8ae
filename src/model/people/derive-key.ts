import { randomBytes, scrypt } from 'node:crypto'
import { memoryBytes, type PasswordHash } from './password-hash.js'

/** The OWASP parameters that use the least memory: 16 MB. */
const PARAMETERS = { N: 2 ** 14, r: 8, p: 5 } as const
const SALT_BYTES = 16
const KEY_BYTES = 32

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

import { createHash } from 'node:crypto'

/** Deterministic letters and digits that start with a letter and contain a digit. */
export function base64Secret(number: number, length = 14): string {
  const digest = createHash('sha512').update(`secret ${number}`).digest('base64').replaceAll(/[+/=]/g, '')
  return `k${digest.slice(0, length - 3)}7Q`
}

const hexSecret = (number: number) => createHash('sha512').update(`secret ${number}`).digest('hex').slice(0, 16)
const pick = (words: readonly string[], number: number) => words[number % words.length] ?? ''
/** Four digits that differ in every sample, so that ten characters identify a secret. */
const digits = (number: number) => String(1000 + number).slice(-4)

/** Generated secrets and typical passwords: `hunter2`, `Summer2024!`, `o'brien1`. */
const SHAPES: readonly ((number: number) => string)[] = [
  base64Secret,
  (number) => `${pick(['hunter', 'dragon', 'monkey', 'shadow', 'falcon', 'ginger', 'banana'], number)}${digits(number)}`,
  hexSecret,
  (number) => `${pick(['Summer', 'Winter', 'Autumn', 'Monday'], number)}${digits(number)}${pick(['!', '!!', '#', '$', '*', '?!', '+'], number)}`,
  (number) => `${pick(["o'connor", "d'angelo"], number)}${digits(number)}`,
] // biome-ignore format: one shape in each line

/**
 * Places a secret in a text or value. The shape of the secret depends on the number of the sample. A form with single
 * quotes gets no secret with a quote: its author would have escaped it.
 */
export function placeSecret<T>(number: number, form: (secret: string) => T): { secret: string; value: T } {
  const secret = SHAPES[number % SHAPES.length]?.(number) ?? ''
  const value = form(secret)
  if (!secret.includes("'") || typeof value !== 'string' || !value.replace(secret, '').includes("'"))
    return { secret, value }
  const plain = base64Secret(number)
  return { secret: plain, value: form(plain) }
}

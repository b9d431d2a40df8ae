import type { Draw } from './draw.js'
import { ADDRESSES, FIRST_USER, USER_COUNT } from './people.js'

/** Values of the placeholders in a sample text. */
const PLACEHOLDERS: Record<string, (draw: Draw) => string> = {
  order: (draw) => String(draw.integer(100_000, 999_999)),
  number: (draw) => String(draw.integer(2, 900)),
  milliseconds: (draw) => String(draw.integer(5000, 31_000)),
  amount: (draw) => `${draw.integer(4, 240)}.${draw.integer(10, 99)}`,
  sku: (draw) => `${draw.pick(['TEA', 'OIL', 'JAM', 'RYE', 'NUT'])}-${draw.integer(1000, 9999)}`,
  uuid: (draw) => [8, 4, 4, 4, 12].map((digits) => draw.hex(digits)).join('-'),
  hex: (draw) => draw.hex(16),
  email: (draw) => `${draw.pick(['mira', 'tom', 'lena', 'yusuf', 'kofi', 'ines'])}.${draw.integer(1, 99)}@example.com`,
  user: (draw) => userId(draw),
  address: (draw) => `${draw.pick(ADDRESSES)}${draw.integer(1, 254)}`,
  port: (draw) => String(draw.integer(40_000, 60_000)),
  word: (draw) => draw.pick(['olive oil', 'rye bread', 'jam', 'green tea', 'almonds', 'honey', 'pasta']),
  city: (draw) => draw.pick(['Lisbon', 'Leeds', 'Lyon', 'Linz', 'Lublin']),
  password: (draw) => `summer-${draw.integer(1000, 9999)}`,
}

export function userId(draw: Draw): string {
  // Squaring makes some users much more active than others.
  return `usr_${FIRST_USER + Math.floor(draw.number() ** 2 * USER_COUNT)}`
}

/** Fills the placeholders in a text, or in every text of a data structure. */
export function fill<T>(data: T, draw: Draw): T {
  if (typeof data === 'string') {
    return data.replace(/\{(\w+)\}/g, (whole, name: string) => PLACEHOLDERS[name]?.(draw) ?? whole) as T
  }
  if (Array.isArray(data)) return data.map((item) => fill(item, draw)) as T
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fill(value, draw)])) as T
}

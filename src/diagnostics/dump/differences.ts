/** A number of two dumps. Null where one of them does not have it. */
export interface NumberChange {
  name: string
  a: number | null
  b: number | null
  difference: number | null
  /** Of the older number; null where that is nothing. */
  percent: number | null
  /** Whether it rose by so much that one should look. */
  rise: boolean
}

export interface TextChange {
  name: string
  /** Null where it is not there. */
  a: string | null
  b: string | null
}

/** Less is noise: a heap grows and shrinks by this between two collections. */
const RISE_PERCENT = 20

/**
 * The numbers that differ by more than is shown of them, nested ones under `outer.inner`, those that changed most first.
 *
 * @example
 * comparedNumbers({ sockets: 4 }, { sockets: 40 }) // [{ name: 'sockets', a: 4, b: 40, difference: 36, percent: 900, … }]
 */
export function comparedNumbers(a: unknown, b: unknown): NumberChange[] {
  const before = numbersIn(a)
  const after = numbersIn(b)
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return names
    .map((name) => changeOf(name, before.get(name) ?? null, after.get(name) ?? null))
    .filter(isSeen)
    .sort(byChange)
}

/** The texts that differ, came or went, by name. */
export function changedTexts(a: Record<string, unknown>, b: Record<string, unknown>): TextChange[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return names.map((name) => ({ name, a: textAt(a, name), b: textAt(b, name) })).filter(({ a, b }) => a !== b)
}

function changeOf(name: string, a: number | null, b: number | null): NumberChange {
  // What is counted by kind is not told of kinds of which there are none.
  const difference = a === null && b === null ? null : (b ?? 0) - (a ?? 0)
  const percent = difference === null || !a ? null : Math.round((difference / Math.abs(a)) * 1000) / 10
  const rise = (difference ?? 0) >= leastRise(name) && (percent === null || percent >= RISE_PERCENT)
  return { name, a, b, difference: difference === null ? null : rounded(difference), percent, rise }
}

/** A thousandth of a percent of the memory is always another: listed, it would read as 0 %. */
function isSeen({ name, difference, percent }: NumberChange): boolean {
  return percent !== 0 && Math.abs(difference ?? 0) >= leastSeen(name)
}

/** Half of the last digit that is shown. */
function leastSeen(name: string): number {
  if (/(?:bytes|_s)$/.test(name)) return 0.5
  return /_(?:ms|percent)$/.test(name) ? 0.05 : 0.0005
}

/** By what it measures; what is for new objects alone is full now and empty then. */
function leastRise(name: string): number {
  if (/(?:^|\.)new_/.test(name)) return Number.POSITIVE_INFINITY
  if (name.endsWith('bytes')) return 4 * 1024 * 1024
  if (name.endsWith('_ms')) return 5
  return isShare(name) ? 0.05 : 3
}

function isShare(name: string): boolean {
  return /utilisation|_share$/.test(name)
}

/** Something new is a greater change than any percentage. */
function byChange(a: NumberChange, b: NumberChange): number {
  const size = ({ percent, difference }: NumberChange) => Math.abs(percent ?? difference ?? 0)
  return Number(b.percent === null) - Number(a.percent === null) || size(b) - size(a)
}

function numbersIn(value: unknown, prefix = '', depth = 0, found = new Map<string, number>()): Map<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > 3) return found
  for (const [key, inner] of Object.entries(value)) {
    const name = prefix === '' ? key : `${prefix}.${key}`
    if (typeof inner === 'number') found.set(name, inner)
    else numbersIn(inner, name, depth + 1, found)
  }
  return found
}

function textAt(values: Record<string, unknown>, name: string): string | null {
  const value = Object.hasOwn(values, name) ? values[name] : null
  return value === null || value === undefined ? null : String(value)
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}

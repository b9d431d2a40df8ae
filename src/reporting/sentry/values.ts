/** Untrusted JSON. The readers below treat values of an unexpected type as absent. */

export type Json = Readonly<Record<string, unknown>>

export function asRecord(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns text, or a number or boolean as text. */
export function asScalarText(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : asText(value)
}

/** Returns the first items of a list. Older SDKs send a list directly, newer SDKs as `{ values: [...] }`. */
export function asList(value: unknown, limit: number, from: 'start' | 'end' = 'start'): readonly Json[] {
  const unwrapped = Array.isArray(value) ? value : (asRecord(value)?.values ?? [value])
  const list: readonly unknown[] = Array.isArray(unwrapped) ? unwrapped : []
  return (from === 'start' ? list.slice(0, limit) : list.slice(-limit))
    .map(asRecord)
    .filter((item) => item !== undefined)
}

/** Reads tags, headers or a query, which can be a mapping or a list of pairs. */
export function asPairs(value: unknown, limit: number): [string, unknown][] {
  const pairs = Array.isArray(value)
    ? value.slice(0, limit).map((item) => (Array.isArray(item) ? item : [asRecord(item)?.key, asRecord(item)?.value]))
    : Object.entries(asRecord(value) ?? {}).slice(0, limit)
  return pairs.flatMap(([key, item]): [string, unknown][] => (asText(key) ? [[String(key), item]] : []))
}

/** Creates an object with own properties only, so that `__proto__` does not become the prototype. */
export function fromPairs(pairs: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(pairs)
}

/** Parses seconds since 1970 or an ISO 8601 date. A date without a zone is UTC. */
export function asTime(value: unknown): number | undefined {
  if (typeof value === 'number') return value * 1000
  if (typeof value !== 'string' || value.length > 40) return undefined
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : time
}

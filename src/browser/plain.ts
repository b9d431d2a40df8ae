import { attempt } from './quietly.js'

/**
 * Copies any value as JSON-safe data: without cycles, bounded, and without unreadable parts. Earlier values have
 * priority.
 */
export function toPlainData<T>(value: T): T {
  // Total length of all strings in an event; a batch of ten events fits into the limit of any endpoint.
  let remainingChars = 16_000
  const copy = (original: unknown, depth = 7): unknown => {
    let text: string = typeof original
    if (original == null || original === !!original || text === 'number') return original
    const copied = attempt(() => {
      text = {}.toString.call(original)
      // Bounds the work for lists with millions of items.
      const list = Array.isArray(original) && original.slice(0, remainingChars / 20)
      if (depth && (list || text === '[object Object]')) {
        const source = (list || original) as Record<string, unknown>
        const target = (list ? [] : {}) as typeof source
        for (const key of Object.keys(source)) {
          remainingChars -= key.length + 20
          if (remainingChars <= 0) break
          target[key] = attempt(() => copy(source[key], depth - 1))
        }
        return target
      }
      // Strings are enough for elements, dates and errors. Skips typed arrays, which can be slow to convert to a
      // string.
      if (!/Array/.test(text)) text = String(original)
      return undefined
    })
    if (copied) return copied
    text = text.slice(0, remainingChars)
    remainingChars -= text.length
    return text
  }
  return copy(value) as T
}

/** Joins any values into one string. */
export function formatValues(values: unknown[]): string {
  return toPlainData(values)
    .map((item) => (typeof item === 'string' ? item : `${JSON.stringify(item)}`))
    .join(' ')
}

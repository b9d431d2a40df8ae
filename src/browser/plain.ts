import { attempt } from './quietly.js'

/**
 * Copies any value as JSON-safe data: without cycles, bounded, and without unreadable parts. Earlier values have
 * priority.
 */
export function plain<T>(value: T): T {
  // Characters for all texts of an event together; ten events fit into the limit of any endpoint.
  let room = 16_000
  const copy = (given: unknown, depth = 7): unknown => {
    let text: string = typeof given
    if (given == null || given === !!given || text === 'number') return given
    const copied = attempt(() => {
      text = {}.toString.call(given)
      // Bounds the work for lists with millions of items.
      const list = Array.isArray(given) && given.slice(0, room / 20)
      if (depth && (list || text === '[object Object]')) {
        const from = (list || given) as Record<string, unknown>
        const into = (list ? [] : {}) as typeof from
        for (const key of Object.keys(from)) {
          room -= key.length + 20
          if (room <= 0) break
          into[key] = attempt(() => copy(from[key], depth - 1))
        }
        return into
      }
      // The text form of elements, dates and errors is enough. That of a Float32Array can be slow.
      if (!/Array/.test(text)) text = String(given)
      return undefined
    })
    if (copied) return copied
    text = text.slice(0, room)
    room -= text.length
    return text
  }
  return copy(value) as T
}

/** Joins any values to one text. */
export function printed(values: unknown[]): string {
  return plain(values)
    .map((one) => (typeof one === 'string' ? one : `${JSON.stringify(one)}`))
    .join(' ')
}

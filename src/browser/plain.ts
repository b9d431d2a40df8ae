import { attempt } from './quietly.js'

/**
 * A copy that JSON can hold, whatever it was: without cycles, bounded, and with what could not be read left out. What
 * comes first has the room.
 */
export function plain<T>(value: T): T {
  // So many characters have all texts of an event together; ten events fit into any endpoint's limit.
  let room = 16_000
  const copy = (given: unknown, depth = 7): unknown => {
    let text: string = typeof given
    if (given == null || given === !!given || text === 'number') return given
    const copied = attempt(() => {
      text = {}.toString.call(given)
      // The page must not wait for a million that have no room.
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
      // Elements, dates, errors and the like tell enough by what they are as text. That of a Float32Array may take long.
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

/** Any values as one text. */
export function printed(values: unknown[]): string {
  return plain(values)
    .map((one) => (typeof one === 'string' ? one : `${JSON.stringify(one)}`))
    .join(' ')
}

/** All texts of an event together; ten events fit into any endpoint's limit. */
const MOST_CHARACTERS = 16_000
const DEPTH = 6

/**
 * A copy that JSON can hold, whatever it was: without cycles, bounded, and with what could not be read left out. What
 * comes first has the room.
 */
export function plain<T>(value: T): T {
  let room = MOST_CHARACTERS
  const copy = (given: unknown, depth: number): unknown => {
    if (given == null || given === !!given || typeof given === 'number') return given
    const is_list = Array.isArray(given)
    // Elements, dates, errors and the like tell enough by what they are as text.
    if (!depth || !(is_list || {}.toString.call(given) === '[object Object]')) {
      const text = String(given).slice(0, room)
      room -= text.length
      return text
    }
    const copied = (is_list ? [] : {}) as Record<string, unknown>
    for (const key of Object.keys(given as object)) {
      try {
        room -= key.length + 20
        if (room > 0) copied[key] = copy((given as Record<string, unknown>)[key], depth - 1)
      } catch {
        // A getter that throws.
      }
    }
    return copied
  }
  return copy(value, DEPTH) as T
}

/** Any value as a text. */
export function printed(value: unknown): string {
  const copied = plain(value)
  return typeof copied === 'string' ? copied : `${JSON.stringify(copied)}`
}

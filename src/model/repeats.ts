/** A statement that one request or job ran more than once. */
export interface Repeat {
  readonly statement: string
  count: number
  /** How often in a row, others in between allowed as in a loop; and the most that it came to. */
  run: number
  longest: number
  last_at: number
  duration_ms: number
  /** Where in the host's code it was called; null until it was worth finding out. */
  place: string | null
}

/** What opens and ends transactions, and sets things up, is no query. */
const NO_QUERY = /^(?:begin|commit|end|release|rollback|savepoint|set|show|start)\b/i

export function isQuery(statement: string): boolean {
  return !NO_QUERY.test(statement)
}

const MOST_STATEMENTS = 50
/** A loop runs a few other statements between two of the same. */
const WIDEST_GAP = 10

/** The statements of one request or job: a bounded number of counters, whatever it runs. */
export class Repeats {
  readonly #repeats = new Map<string, Repeat>()
  #ran = 0
  /** Whether its end is waited for already. */
  is_awaited = false
  /** Whether it is worth knowing where the next connection is asked for, and where the last was. */
  wants_caller = false
  caller = ''

  note(statement: string): Repeat | null {
    this.#ran++
    const known = this.#repeats.get(statement)
    if (!known) return this.#first(statement)
    known.count++
    known.run = this.#ran - known.last_at <= WIDEST_GAP ? known.run + 1 : 1
    known.longest = Math.max(known.longest, known.run)
    known.last_at = this.#ran
    return known
  }

  /** Those that came so often in a row. */
  since(threshold: number): Repeat[] {
    return [...this.#repeats.values()].filter(({ longest }) => longest >= threshold)
  }

  #first(statement: string): Repeat | null {
    if (this.#repeats.size >= MOST_STATEMENTS) return null
    const repeat = { statement, count: 1, run: 1, longest: 1, last_at: this.#ran, duration_ms: 0, place: null }
    this.#repeats.set(statement, repeat)
    return repeat
  }
}

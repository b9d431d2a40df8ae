/** A statement that one request or job ran more than once. */
export interface Repeat {
  readonly statement: string
  count: number
  /** Executions in a row, with other statements in between as in a loop; and the longest such run. */
  run: number
  longest: number
  last_at: number
  duration_ms: number
  /** Location in the host's code that ran it; null until it is worth determining. */
  place: string | null
}

/** Statements that control transactions or settings are not queries. */
const NO_QUERY = /^(?:begin|commit|end|release|rollback|savepoint|set|show|start)\b/i

export function isQuery(statement: string): boolean {
  return !NO_QUERY.test(statement)
}

const MAX_STATEMENTS = 50
/** A loop runs a few other statements between two executions of the same one. */
const MAX_STATEMENT_GAP = 10

/** Statements of one request or job, in a bounded number of counters. */
export class Repeats {
  readonly #repeats = new Map<string, Repeat>()
  #ran = 0
  /** Whether the end of the request or job is already awaited. */
  isAwaited = false
  /** Whether to record the caller of the next connection request, and the last recorded caller. */
  wantsCaller = false
  caller = ''

  note(statement: string): Repeat | null {
    this.#ran++
    const known = this.#repeats.get(statement)
    if (!known) return this.#first(statement)
    known.count++
    known.run = this.#ran - known.last_at <= MAX_STATEMENT_GAP ? known.run + 1 : 1
    known.longest = Math.max(known.longest, known.run)
    known.last_at = this.#ran
    return known
  }

  /** Statements with at least `threshold` executions in a row. */
  since(threshold: number): Repeat[] {
    return [...this.#repeats.values()].filter(({ longest }) => longest >= threshold)
  }

  #first(statement: string): Repeat | null {
    if (this.#repeats.size >= MAX_STATEMENTS) return null
    const repeat = { statement, count: 1, run: 1, longest: 1, last_at: this.#ran, duration_ms: 0, place: null }
    this.#repeats.set(statement, repeat)
    return repeat
  }
}

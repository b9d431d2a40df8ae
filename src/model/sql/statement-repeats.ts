/** A statement that one request or job ran more than once. */
export interface StatementRepeat {
  readonly statement: string
  count: number
  /** Length of the current run of executions, which may include a few other statements, and of the longest run. */
  run: number
  longest_run: number
  last_execution: number
  duration_ms: number
  /** Location in the host's code that ran the statement; null until it is needed. */
  place: string | null
}

/** Statements that control transactions or settings are not queries. */
const CONTROL_STATEMENT = /^(?:begin|commit|end|release|rollback|savepoint|set|show|start)\b/i

export function isQuery(statement: string): boolean {
  return !CONTROL_STATEMENT.test(statement)
}

const MAX_STATEMENTS = 50
/** A loop runs a few other statements between two executions of the same statement. */
const MAX_STATEMENT_GAP = 10

/** Statements of one request or job, in a bounded number of counters. */
export class StatementRepeats {
  readonly #repeats = new Map<string, StatementRepeat>()
  #executions = 0
  /** True once a listener waits for the end of the request or job. */
  isAwaited = false
  /** True to record the caller of the next connection request in `caller`. */
  shouldRecordCaller = false
  caller = ''

  add(statement: string): StatementRepeat | null {
    this.#executions++
    const repeat = this.#repeats.get(statement)
    if (!repeat) return this.#addFirst(statement)
    repeat.count++
    repeat.run = this.#executions - repeat.last_execution <= MAX_STATEMENT_GAP ? repeat.run + 1 : 1
    repeat.longest_run = Math.max(repeat.longest_run, repeat.run)
    repeat.last_execution = this.#executions
    return repeat
  }

  /** Statements with at least `threshold` consecutive executions. */
  repeatedAtLeast(threshold: number): StatementRepeat[] {
    return [...this.#repeats.values()].filter(({ longest_run }) => longest_run >= threshold)
  }

  #addFirst(statement: string): StatementRepeat | null {
    if (this.#repeats.size >= MAX_STATEMENTS) return null
    const repeat = {
      statement,
      count: 1,
      run: 1,
      longest_run: 1,
      last_execution: this.#executions,
      duration_ms: 0,
      place: null,
    }
    this.#repeats.set(statement, repeat)
    return repeat
  }
}

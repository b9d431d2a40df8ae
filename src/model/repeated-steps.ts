import { leftStatement } from './left-statement.js'
import { isQuery, type Repeat, Repeats } from './repeats.js'

export interface RepeatedStep {
  /** Without values. */
  statement: string
  count: number
  duration_ms: number
}

interface Step {
  category: string
  message: string
  duration_ms?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

/** The statements of a trail that ran again and again, by the rules of the page of all of them; the most frequent first. */
export function repeatedStatements(steps: readonly Step[], threshold: number): RepeatedStep[] {
  const repeats = new Repeats()
  for (const step of steps) {
    if (step.category !== 'sql') continue
    const statement = leftStatement(step)
    const repeat: Repeat | null = isQuery(statement) ? repeats.note(statement) : null
    if (repeat) repeat.duration_ms += step.duration_ms ?? 0
  }
  return repeats
    .since(threshold)
    .map(({ statement, count, duration_ms }) => ({ statement, count, duration_ms }))
    .sort((a, b) => b.count - a.count)
}

import { leftStatement } from './breadcrumb-statement.js'
import { isQuery, type Repeat, Repeats } from './statement-repeats.js'

export interface RepeatedStep {
  /** With placeholders instead of values. */
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

/** Repeated statements of a breadcrumb trail, most frequent first, by the same rules as the N+1 page. */
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

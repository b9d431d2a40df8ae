import { breadcrumbStatement } from './breadcrumb-statement.js'
import { isQuery, type StatementRepeat, StatementRepeats } from './statement-repeats.js'

export interface RepeatedStatement {
  /** SQL with placeholders instead of values. */
  statement: string
  count: number
  duration_ms: number
}

interface SqlStep {
  category: string
  message: string
  duration_ms?: number | undefined
  metadata?: Record<string, unknown> | undefined
}

/** Repeated statements of a breadcrumb trail, most frequent first, by the same rules as the N+1 page. */
export function repeatedStatements(breadcrumbs: readonly SqlStep[], threshold: number): RepeatedStatement[] {
  const repeats = new StatementRepeats()
  for (const breadcrumb of breadcrumbs) {
    if (breadcrumb.category !== 'sql') continue
    const statement = breadcrumbStatement(breadcrumb)
    const repeat: StatementRepeat | null = isQuery(statement) ? repeats.add(statement) : null
    if (repeat) repeat.duration_ms += breadcrumb.duration_ms ?? 0
  }
  return repeats
    .repeatedAtLeast(threshold)
    .map(({ statement, count, duration_ms }) => ({ statement, count, duration_ms }))
    .sort((a, b) => b.count - a.count)
}

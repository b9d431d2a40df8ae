import { day, list, number, object, text, time, whole } from '../../dashboard/openapi/schema.js'
import type { NPlusOneQueries, RepeatedStatement, StatementCaller } from './query.js'

export const nPlusOneResponse = object<NPlusOneQueries & { counted_at: string }>({
  days: whole,
  threshold: whole,
  total_count: whole,
  by_day: list(object<NPlusOneQueries['by_day'][number]>({ day, count: whole })),
  statements: list(
    object<RepeatedStatement>({
      statement: text,
      request_count: whole,
      statement_count: whole,
      worst_count: whole,
      duration_ms: number,
      last_seen_at: time,
      callers: list(object<StatementCaller>({ route: text, place: text, request_count: whole, worst_count: whole })),
    }),
  ),
  counted_at: time,
})

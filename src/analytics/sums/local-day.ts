import { DAY } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { offsetParts, type Span } from './period.js'

/** SQL expression for the local date of an hour: midnight of that date, interpreted as UTC. */
export function localDay(period: Span & { time_zone: string }): RawBuilder<number> {
  const time = localTime(period)
  return sql<number>`${time} - ${time} % ${DAY}`
}

/**
 * SQL expression for the local time of an hour. Uses one offset per part if daylight saving time changes within the
 * span.
 */
function localTime({ from, to, time_zone }: Span & { time_zone: string }): RawBuilder<number> {
  const hour = sql.ref('hour')
  const [first, ...later] = offsetParts({ from, to }, time_zone)
  if (later.length === 0) return sql<number>`(${hour} + ${first?.offset ?? 0})`
  // Literals, because PostgreSQL treats a parameter after `then` as text.
  const cases = later.reverse().map((part) => sql`when ${hour} >= ${part.from} then ${sql.lit(part.offset)}`)
  return sql<number>`(${hour} + case ${sql.join(cases, sql` `)} else ${sql.lit(first?.offset ?? 0)} end)`
}

import { SEVERITIES } from '../model/severity.js'
import { type RawBuilder, sql } from '../store/kysely.js'

/** How grave a severity is, as a number to sort by: 0 is the gravest. */
export function gravity(column: string): RawBuilder<number> {
  const cases = SEVERITIES.map((severity, rank) => sql`when ${sql.lit(severity)} then ${sql.lit(rank)}`)
  return sql<number>`case ${sql.ref(column)} ${sql.join(cases, sql` `)} end`
}

import { SEVERITIES } from '../model/severity/severity.js'
import { type RawBuilder, sql } from '../store/kysely.js'

/** SQL expression that ranks a severity for sorting; 0 is the most severe. */
export function severityRank(column: string): RawBuilder<number> {
  const cases = SEVERITIES.map((severity, rank) => sql`when ${sql.lit(severity)} then ${sql.lit(rank)}`)
  return sql<number>`case ${sql.ref(column)} ${sql.join(cases, sql` `)} end`
}

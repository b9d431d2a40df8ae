import type { Context } from '../context.js'
import type { HealthState } from './report.js'

const LOST = ['spool_full', 'spool_unwritable']
const TO_LOOK_AT = ['refused_by_database', 'dashboard_failed', 'forwarding_headers_ignored']

/** Health as far as this process knows it without a query or a look at the disk. Every page of the dashboard shows it. */
export function healthAtAGlance({
  recorder,
  counters,
  database: { dialect },
}: Pick<Context, 'recorder' | 'counters' | 'database'>): HealthState {
  const counts = counters.toJSON()
  const happened = (reasons: readonly string[]) => reasons.some((reason) => (counts[reason] ?? 0) > 0)
  const isAway = recorder.state.away_since !== null
  if (isAway || (dialect.file?.damage ?? null) !== null || happened(LOST)) return 'failing'
  return (dialect.file?.replacedCount ?? 0) > 0 || happened(TO_LOOK_AT) ? 'degraded' : 'ok'
}

import type { Context } from '../context.js'
import type { HealthState } from './reasons.js'

const LOST = ['spool_full', 'spool_unwritable']
const TO_LOOK_AT = ['refused_by_database', 'dashboard_failed', 'forwarding_headers_ignored']

/** What this process knows of its health without asking the database or the disk: every page of the dashboard shows it. */
export function healthAtAGlance({ recorder, counters }: Pick<Context, 'recorder' | 'counters'>): HealthState {
  const counts = counters.toJSON()
  const happened = (reasons: readonly string[]) => reasons.some((reason) => (counts[reason] ?? 0) > 0)
  if (happened(LOST)) return 'failing'
  return recorder.state.away_since !== null || happened(TO_LOOK_AT) ? 'degraded' : 'ok'
}

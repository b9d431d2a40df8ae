import type { Context } from '../context.js'
import type { HealthState } from './report.js'

const FAILING_REASONS = ['spool_full', 'spool_unwritable', 'journal_unwritable']
const WARNING_REASONS = ['refused_by_database', 'dashboard_failed', 'forwarding_headers_ignored']

/** Health that needs no query or disk access. Shown on every page of the dashboard. */
export function healthAtAGlance({
  recorder,
  counters,
  database: { dialect },
}: Pick<Context, 'recorder' | 'counters' | 'database'>): HealthState {
  const counts = counters.toJSON()
  const hasOccurred = (reasons: readonly string[]) => reasons.some((reason) => (counts[reason] ?? 0) > 0)
  const isUnreachable = recorder.state.unavailable_since !== null
  if (isUnreachable || (dialect.file?.damage ?? null) !== null || hasOccurred(FAILING_REASONS)) return 'failing'
  return (dialect.file?.replacedCount ?? 0) > 0 || hasOccurred(WARNING_REASONS) ? 'degraded' : 'ok'
}

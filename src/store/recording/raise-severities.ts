import { moreSevere, type Severity } from '../../model/severity/severity.js'
import { isResolved, STATUSES, type Status } from '../../model/workflow.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { GroupRow, ReopenedGroup } from './batch.js'
import type { FoldedGroup } from './folded-group.js'

/** Returns the highest severity of the events after a time, or null without such events. */
export function severitySince(group: FoldedGroup, after: number): Severity | null {
  if (group.oldest.occurred_at > after) return group.severity
  const since = [...group.kept, group.newest].filter(({ occurred_at }) => occurred_at > after)
  // Events of a storm that have no row are only in the sums, which contain the hour instead of the time.
  const sums = [...group.hours.values()].filter(({ hour }) => hour > after)
  return [...since, ...sums].reduce<Severity | null>(
    (highest, { severity }) => (highest ? moreSevere(highest, severity) : severity),
    null,
  )
}

/**
 * Raises the severity of errors with late occurrences, if those occurred after the last resolution. `reopened_at` cannot
 * be used for the comparison: it is the time of the write, which may be much later than the occurrence.
 */
export async function raiseSeverities(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  rows: Map<string, GroupRow>,
  reopened: ReadonlyMap<string, ReopenedGroup>,
): Promise<void> {
  const late = groups.flatMap((group) => {
    const row = rows.get(group.key)
    const reopened_at = row?.reopened_at ?? null
    if (!row || reopened_at === null || reopened.has(group.key)) return []
    const mayRaise =
      group.oldest.occurred_at <= reopened_at && moreSevere(row.severity, group.severity) !== row.severity
    return mayRaise ? [{ group, row, reopened_at }] : []
  })
  for (const { group, row, reopened_at } of late) {
    const severity = severitySince(group, await lastResolvedAt(trx, row.id, reopened_at))
    if (severity === null || moreSevere(row.severity, severity) === row.severity) continue
    await trx.updateTable('faultboard_errors').set({ severity }).where('id', '=', row.id).execute()
    rows.set(group.key, { ...row, severity })
  }
}

const CLOSED: readonly Status[] = STATUSES.filter(isResolved)

/** Returns the time of the last resolution before the error was reopened, from the activity trail. */
async function lastResolvedAt(trx: Transaction<Schema>, error_id: number, reopened_at: number): Promise<number> {
  const resolution = await trx
    .selectFrom('faultboard_activities')
    .select('created_at')
    .where('error_id', '=', error_id)
    .where('to_value', 'in', CLOSED)
    .where('from_value', 'not in', CLOSED)
    .where('created_at', '<=', reopened_at)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return resolution?.created_at ?? reopened_at
}

import type { Context } from '../../context.js'
import { OTHERS } from '../../model/frequent-names.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import { applicationIds } from '../../store/applications.js'
import { advanceCheckpoint, GUARD_FOLDED, readCheckpoint } from '../../store/checkpoints.js'
import { namesDigest } from '../../store/counters/define-hour-table.js'
import { withRowLocks } from '../../store/sql/row-locks.js'
import { type GuardRow, guardRows } from './guard-rows.js'
import { GUARD_HOURS } from './hours.js'

const FOLD_AFTER_DAYS = 7
const MAX_ROWS_PER_RULE = 20
/** Limits how long a transaction of an embedded database blocks the host's thread. */
const BATCH_SIZE = 100

/**
 * Combines rows of old hours, which can be many after an attack. The most frequent addresses and paths of each rule keep
 * their rows. Sums by environment, rule, kind and hour do not change.
 */
export async function foldGuardHours(context: Context): Promise<void> {
  const limit = startOfHour(context.now() - FOLD_AFTER_DAYS * DAY)
  for (const application_id of await applicationIds(context.database)) {
    let hour = await firstStoredHour(context, application_id, {
      from: await readFoldedUntil(context, application_id),
      to: limit,
    })
    while (hour !== null) {
      await foldHour(context, application_id, hour)
      await storeFoldedUntil(context, application_id, hour + HOUR)
      hour = await firstStoredHour(context, application_id, { from: hour + HOUR, to: limit })
    }
  }
}

async function readFoldedUntil({ database }: Context, application_id: number): Promise<number> {
  return database.write((trx) => readCheckpoint(trx, database.dialect, `${GUARD_FOLDED}${application_id}`, 0))
}

async function storeFoldedUntil({ database }: Context, application_id: number, hour: number): Promise<void> {
  await database.write((trx) => advanceCheckpoint(trx, `${GUARD_FOLDED}${application_id}`, hour))
}

/** Returns the first hour in the range that has rows. */
async function firstStoredHour(
  { database: { read } }: Context,
  application_id: number,
  { from, to }: { from: number; to: number },
): Promise<number | null> {
  const { first_hour } = await read
    .selectFrom('faultboard_request_guard_hours')
    .select(({ fn }) => fn.min<number | null>('hour').as('first_hour'))
    .where('application_id', '=', application_id)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .executeTakeFirstOrThrow()
  return first_hour
}

async function foldHour(context: Context, application_id: number, hour: number): Promise<void> {
  const rowsByRule = new Map<string, Pick<GuardRow, 'event_digest' | 'count'>[]>()
  for await (const rows of guardRows(context, application_id, { from: hour, to: hour + HOUR })) {
    for (const { environment, kind, rule, ip_address, path, event_digest, count } of rows) {
      if (ip_address === OTHERS && path === OTHERS) continue
      const key = `${environment}\0${kind}\0${rule}`
      const rowsOfRule = rowsByRule.get(key)
      if (rowsOfRule) rowsOfRule.push({ event_digest, count })
      else rowsByRule.set(key, [{ event_digest, count }])
    }
  }
  const digests = [...rowsByRule.values()].flatMap((rowsOfRule) =>
    rowsOfRule
      .sort((a, b) => b.count - a.count)
      .slice(MAX_ROWS_PER_RULE)
      .map(({ event_digest }) => event_digest),
  )
  for (let i = 0; i < digests.length; i += BATCH_SIZE) {
    await combineRows(context, { application_id, hour, digests: digests.slice(i, i + BATCH_SIZE) })
  }
}

/** Locks the rows, so that counts from concurrent writers are included or create a new row. */
async function combineRows(
  { database }: Context,
  { application_id, hour, digests }: { application_id: number; hour: number; digests: readonly string[] },
): Promise<void> {
  await database.write(async (trx) => {
    const query = trx
      .selectFrom('faultboard_request_guard_hours')
      .select(['environment', 'kind', 'rule', 'count', 'last_seen_at'])
      .where('application_id', '=', application_id)
      .where('hour', '=', hour)
      .where('event_digest', 'in', digests)
    const rows = await withRowLocks(query, database.dialect).execute()
    await trx
      .deleteFrom('faultboard_request_guard_hours')
      .where('application_id', '=', application_id)
      .where('hour', '=', hour)
      .where('event_digest', 'in', digests)
      .execute()
    const sums = new Map<string, (string | number)[]>()
    for (const { environment, kind, rule, count, last_seen_at } of rows) {
      const names = { environment, kind, rule, ip_address: OTHERS, path: OTHERS }
      const digest = namesDigest(GUARD_HOURS, names)
      const [sum = 0, last = 0] = (sums.get(digest)?.slice(-2) ?? []) as number[]
      sums.set(digest, [
        ...[application_id, hour, digest, environment, kind, rule, OTHERS, OTHERS],
        ...[sum + count, Math.max(last, last_seen_at ?? hour)],
      ])
    }
    await database.dialect.insertMany(trx, GUARD_HOURS.target, [...sums.values()])
  })
}

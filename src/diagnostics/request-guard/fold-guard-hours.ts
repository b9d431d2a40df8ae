import type { Context } from '../../context.js'
import { OTHERS } from '../../model/others.js'
import { DAY, HOUR, hourOf } from '../../model/time.js'
import { applicationIds } from '../../store/applications.js'
import { advanceCheckpoint, GUARD_FOLDED, readCheckpoint } from '../../store/checkpoints.js'
import { namesDigest } from '../../store/counters/define-hour-table.js'
import { GUARD_HOURS } from '../../store/counters/hour-tables.js'
import { withRowLocks } from '../../store/row-locks.js'
import { type GuardRow, guardRows } from './guard-rows.js'

const KEPT_DAYS = 7
const KEPT_NAMES = 20
/** Rows of one transaction: an embedded database holds the host's thread. */
const ROWS_PER_STATEMENT = 100

/**
 * Makes the hours of a past attack small: of each rule, those that came most often keep rows of their own, and all
 * others are counted together. Sums by rule, kind and hour stay as they are.
 */
export async function foldGuardHours(context: Context): Promise<void> {
  const limit = hourOf(context.now() - KEPT_DAYS * DAY)
  for (const application_id of await applicationIds(context.database)) {
    let hour = await firstHour(context, application_id, { from: await foldedUntil(context, application_id), to: limit })
    while (hour !== null) {
      await foldHour(context, application_id, hour)
      await noteFolded(context, application_id, hour + HOUR)
      hour = await firstHour(context, application_id, { from: hour + HOUR, to: limit })
    }
  }
}

async function foldedUntil({ database }: Context, application_id: number): Promise<number> {
  return database.write((trx) => readCheckpoint(trx, database.dialect, `${GUARD_FOLDED}${application_id}`, 0))
}

async function noteFolded({ database }: Context, application_id: number, hour: number): Promise<void> {
  await database.write((trx) => advanceCheckpoint(trx, `${GUARD_FOLDED}${application_id}`, hour))
}

/** The first hour of these that has any row. */
async function firstHour(
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
  const crowds = new Map<string, Pick<GuardRow, 'event_digest' | 'count'>[]>()
  for await (const rows of guardRows(context, application_id, { from: hour, to: hour + HOUR })) {
    for (const { kind, rule, ip_address, path, event_digest, count } of rows) {
      if (ip_address === OTHERS && path === OTHERS) continue
      const key = `${kind}\0${rule}`
      const crowd = crowds.get(key)
      if (crowd) crowd.push({ event_digest, count })
      else crowds.set(key, [{ event_digest, count }])
    }
  }
  const digests = [...crowds.values()].flatMap((crowd) =>
    crowd
      .sort((a, b) => b.count - a.count)
      .slice(KEPT_NAMES)
      .map(({ event_digest }) => event_digest),
  )
  for (let i = 0; i < digests.length; i += ROWS_PER_STATEMENT) {
    await fold(context, { application_id, hour, digests: digests.slice(i, i + ROWS_PER_STATEMENT) })
  }
}

/** What a late process adds to such a row meanwhile is folded with it, or begins it anew. */
async function fold(
  { database }: Context,
  { application_id, hour, digests }: { application_id: number; hour: number; digests: readonly string[] },
): Promise<void> {
  await database.write(async (trx) => {
    const query = trx
      .selectFrom('faultboard_request_guard_hours')
      .select(['kind', 'rule', 'count', 'last_seen_at'])
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
    for (const { kind, rule, count, last_seen_at } of rows) {
      const names = { kind, rule, ip_address: OTHERS, path: OTHERS }
      const digest = namesDigest(GUARD_HOURS, names)
      const [sum = 0, last = 0] = (sums.get(digest)?.slice(-2) ?? []) as number[]
      sums.set(digest, [
        ...[application_id, hour, digest, kind, rule, OTHERS, OTHERS],
        ...[sum + count, Math.max(last, last_seen_at ?? hour)],
      ])
    }
    await database.dialect.insertMany(trx, GUARD_HOURS.target, [...sums.values()])
  })
}

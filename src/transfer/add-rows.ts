import { OCCURRENCES, PAYLOADS } from '../store/bulk-targets.js'
import type { Dialect } from '../store/dialect.js'
import type { Transaction } from '../store/kysely.js'
import type { ErrorRow } from '../store/lock.js'
import { addSums } from '../store/recording/add-sums.js'
import { type HourSum, storedPayload, type UserSum } from '../store/recording/folded-group.js'
import type { Schema } from '../store/schema.js'
import type { ErrorLine, RecordRows } from './record.js'

interface Rows extends RecordRows {
  application_id: number
  /** The local group, whose message and type can differ from those of the line. */
  row: Pick<ErrorRow, 'id' | 'hash_signature' | 'error_type' | 'first_message'>
  /** Message of the exported group. */
  message: string
  hours: ErrorLine['hours']
}

/** Adds occurrences with their payloads, and all rollup rows. */
export async function addRows(trx: Transaction<Schema>, dialect: Dialect, rows: Rows): Promise<void> {
  await addOccurrences(trx, dialect, rows)
  const { row, application_id } = rows
  const summed = { hash_signature: row.hash_signature, hours: hoursOf(rows), users: usersOf(rows) }
  if (summed.hours.size + summed.users.size === 0) return
  await addSums(trx, dialect, [summed], new Map([[row.hash_signature, row]]), application_id)
}

async function addOccurrences(trx: Transaction<Schema>, dialect: Dialect, rows: Rows): Promise<void> {
  const { row, message, payloads, occurrences } = rows
  if (occurrences.length === 0) return
  const texts = payloads.map(storedPayload)
  const distinct = new Map(texts.map((text) => [text.digest, text]))
  await dialect.insertMany(
    trx,
    PAYLOADS,
    [...distinct.values()].map(({ digest, content }) => [row.id, digest, content]),
  )
  const found = await trx
    .selectFrom('faultboard_payloads')
    .select(['id', 'digest'])
    .where('error_id', '=', row.id)
    .where('digest', 'in', [...distinct.keys()])
    .execute()
  const ids = new Map(found.map(({ id, digest }) => [digest, id]))
  await dialect.insertMany(
    trx,
    OCCURRENCES,
    occurrences.map((one) => {
      const said = one.message ?? message
      return [
        row.id,
        ids.get(texts[one.payload]?.digest ?? '') ?? 0,
        one.occurred_at,
        said === row.first_message ? null : said,
        ...[one.platform, one.app_version, one.git_sha, one.user_id],
        ...[one.request_url, one.ip_address, one.user_agent],
        one.context === null ? null : JSON.stringify(one.context),
      ]
    }),
  )
}

function hoursOf({ hours }: Rows): Map<string, HourSum> {
  const sums = new Map<string, HourSum>()
  for (const one of hours) {
    const key = [one.hour, one.severity, one.platform, one.app_version].join('\n')
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) })
  }
  return sums
}

function usersOf({ users }: Rows): Map<string, UserSum> {
  const sums = new Map<string, UserSum>()
  for (const one of users) {
    const known = sums.get(one.user_id)
    sums.set(one.user_id, {
      user_id: one.user_id,
      count: one.count + (known?.count ?? 0),
      first_seen_at: Math.min(one.first_seen_at, known?.first_seen_at ?? Number.POSITIVE_INFINITY),
      last_seen_at: Math.max(one.last_seen_at, known?.last_seen_at ?? 0),
    })
  }
  return sums
}

import { OCCURRENCES, PAYLOADS } from '../store/bulk/bulk-targets.js'
import type { Dialect } from '../store/dialect.js'
import type { Transaction } from '../store/kysely.js'
import { addSums } from '../store/recording/add-sums.js'
import { groupKey, type HourSum, storedPayload, type UserSum } from '../store/recording/folded-group.js'
import { addRequestTexts } from '../store/recording/request-texts.js'
import type { Schema } from '../store/schema.js'
import type { ErrorRow } from '../store/sql/row-locks.js'
import type { ErrorLine, RecordRows } from './record.js'

interface NewRows extends RecordRows {
  application_id: number
  /** The local group, whose message and type can differ from those of the line. */
  row: Pick<ErrorRow, 'id' | 'environment' | 'hash_signature' | 'error_type' | 'first_message'>
  /** Message of the exported group. */
  message: string
  hours: ErrorLine['hours']
  commits: ErrorLine['commits']
}

/** Adds occurrences with their payloads, and all rollup rows. */
export async function addRows(trx: Transaction<Schema>, dialect: Dialect, rows: NewRows): Promise<void> {
  await addOccurrences(trx, dialect, rows)
  const { row, application_id } = rows
  const sums = {
    key: groupKey(row),
    environment: row.environment,
    hours: sumHours(rows),
    users: sumUsers(rows),
    commits: allCommits(rows),
  }
  if (sums.hours.size + sums.users.size + sums.commits.size === 0) return
  await addSums(trx, dialect, [sums], new Map([[sums.key, row]]), application_id)
}

async function addOccurrences(trx: Transaction<Schema>, dialect: Dialect, rows: NewRows): Promise<void> {
  const { row, message, payloads, occurrences } = rows
  if (occurrences.length === 0) return
  const encoded = payloads.map(storedPayload)
  const distinct = new Map(encoded.map((text) => [text.digest, text]))
  await dialect.insertMany(
    trx,
    PAYLOADS,
    [...distinct.values()].map(({ digest, content }) => [row.id, digest, content]),
  )
  const stored = await trx
    .selectFrom('faultboard_payloads')
    .select(['id', 'digest'])
    .where('error_id', '=', row.id)
    .where('digest', 'in', [...distinct.keys()])
    .execute()
  const ids = new Map(stored.map(({ id, digest }) => [digest, id]))
  await dialect.insertMany(
    trx,
    OCCURRENCES,
    occurrences.map((occurrence) => {
      const ownMessage = occurrence.message ?? message
      return [
        row.id,
        ids.get(encoded[occurrence.payload]?.digest ?? '') ?? 0,
        occurrence.occurred_at,
        ownMessage === row.first_message ? null : ownMessage,
        ...[occurrence.platform, occurrence.app_version, occurrence.git_sha, occurrence.user_id],
        ...[occurrence.request_url, occurrence.ip_address, occurrence.user_agent],
        occurrence.context === null ? null : JSON.stringify(occurrence.context),
      ]
    }),
  )
  const events = occurrences.map(({ request_url, context }) => ({ request_url, context: context ?? {} }))
  await addRequestTexts(trx, dialect, [{ id: row.id, is_new: false, events }])
}

/** Exports of 0.4.0 contain only the commits of the occurrences. */
function allCommits({ commits, occurrences }: NewRows): Set<string> {
  return new Set([...commits, ...occurrences.flatMap(({ git_sha }) => git_sha ?? [])])
}

function sumHours({ hours }: NewRows): Map<string, HourSum> {
  const sums = new Map<string, HourSum>()
  for (const hour of hours) {
    const key = [hour.hour, hour.severity, hour.platform, hour.app_version].join('\n')
    sums.set(key, { ...hour, count: hour.count + (sums.get(key)?.count ?? 0) })
  }
  return sums
}

function sumUsers({ users }: NewRows): Map<string, UserSum> {
  const sums = new Map<string, UserSum>()
  for (const user of users) {
    const sum = sums.get(user.user_id)
    sums.set(user.user_id, {
      user_id: user.user_id,
      count: user.count + (sum?.count ?? 0),
      first_seen_at: Math.min(user.first_seen_at, sum?.first_seen_at ?? Number.POSITIVE_INFINITY),
      last_seen_at: Math.max(user.last_seen_at, sum?.last_seen_at ?? 0),
    })
  }
  return sums
}

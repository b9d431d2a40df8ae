import { similarityFeatures } from '../../model/grouping/similarity.js'
import { FEATURES, GROUPS, PAYLOADS, SEARCH_TEXTS } from '../bulk/bulk-targets.js'
import type { Database } from '../database.js'
import type { BulkRow, Dialect } from '../dialect.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import { addSums } from './add-sums.js'
import type { Batch, BatchOutcome, GroupOutcome, GroupRow } from './batch.js'
import { isBatchMarked, markBatches } from './batch-marker.js'
import { dropDuplicates } from './deduplicate.js'
import { type FoldedGroup, groupKey, type Payload, storedPayload } from './folded-group.js'
import { markLateHours } from './late-hours.js'
import type { Outbox, RecordedGroup } from './outbox.js'
import { raiseSeverities } from './raise-severities.js'
import { recordReleases } from './record-releases.js'
import { isRefusal } from './refusal.js'
import { findReopenedGroups, reopenGroups } from './reopen.js'
import { addRequestTexts } from './request-texts.js'
import { addSearchHistory, searchText } from './search-history.js'
import { RepeatedRows } from './stored-cache.js'

export interface RecordOptions {
  application_id: number
  now: number
  outbox: Outbox
  /** Stores refused groups on disk. Called before the commit, so that a crash cannot lose them. */
  setAside(groups: FoldedGroup[]): void
}

/**
 * Writes a batch in one transaction. Groups are upserted first, sorted by signature, so that row locks cannot deadlock.
 * `select for update` followed by an insert is not an option: PostgreSQL and MariaDB cannot lock a row that does not
 * exist yet, so two processes would insert the same group.
 */
export async function recordBatch(database: Database, batch: Batch, options: RecordOptions): Promise<BatchOutcome> {
  const sorted = [...batch.groups].sort((a, b) => (a.key < b.key ? -1 : 1))
  const { dialect } = database
  const groupOptions = { ...options, batch_id: batch.batch_id, repeatedRows: new RepeatedRows(dialect) }
  try {
    const outcome = await writeOnce(database, batch, options, async (trx) => ({
      duplicate: false,
      ...(await recordGroups(trx, dialect, sorted, groupOptions)),
      refused: [],
    }))
    groupOptions.repeatedRows.commit()
    return outcome
  } catch (error) {
    // The caller writes merged batches individually after a refusal.
    if (!isRefusal(database, error) || batch.mergedIds) throw error
  }
  // The database refused part of the batch. Writing each group separately saves all other groups. Part of the repeated
  // rows is rolled back, so they must not enter the cache.
  return writeOnce(database, { ...batch, mayBeCommitted: true }, options, (trx) =>
    recordSeparately(trx, database, sorted, groupOptions),
  )
}

async function writeOnce(
  database: Database,
  { batch_id, mergedIds = [], mayBeCommitted }: Batch,
  { now }: RecordOptions,
  work: (trx: Transaction<Schema>) => Promise<BatchOutcome>,
): Promise<BatchOutcome> {
  return database.write(async (trx) => {
    if (mayBeCommitted && (await isBatchMarked(trx, batch_id))) {
      return { duplicate: true, groups: new Map(), repeated: new Map(), refused: [] }
    }
    await markBatches(trx, database.dialect, [batch_id, ...mergedIds], now)
    return work(trx)
  })
}

async function recordSeparately(
  trx: Transaction<Schema>,
  database: Database,
  groups: readonly FoldedGroup[],
  options: GroupOptions,
): Promise<BatchOutcome> {
  const outcome: BatchOutcome = { duplicate: false, groups: new Map(), repeated: new Map(), refused: [] }
  for (const group of groups) {
    await sql`savepoint faultboard_group`.execute(trx)
    try {
      const recorded = await recordGroups(trx, database.dialect, [group], options)
      for (const entry of recorded.groups) outcome.groups.set(...entry)
      for (const entry of recorded.repeated) outcome.repeated.set(...entry)
    } catch (error) {
      if (!isRefusal(database, error)) throw error
      await sql`rollback to savepoint faultboard_group`.execute(trx)
      outcome.refused.push({ group, error })
    }
    await sql`release savepoint faultboard_group`.execute(trx)
  }
  if (outcome.refused.length > 0) options.setAside(outcome.refused.map(({ group }) => group))
  return outcome
}

type GroupOptions = RecordOptions & Pick<Batch, 'batch_id'> & { repeatedRows: RepeatedRows }

async function recordGroups(
  trx: Transaction<Schema>,
  dialect: Dialect,
  batchGroups: readonly FoldedGroup[],
  { application_id, batch_id, now, outbox, repeatedRows }: GroupOptions,
): Promise<Pick<BatchOutcome, 'groups' | 'repeated'>> {
  const { groups, repeated } = await dropDuplicates(trx, dialect, batchGroups, { application_id, batch_id, now })
  if (groups.length === 0) return { groups: new Map(), repeated }
  const rows = await upsertGroups(trx, dialect, groups, application_id)
  const reopened = await findReopenedGroups(trx, groups, rows, application_id)
  await raiseSeverities(trx, groups, rows, reopened)
  const outcomes = new Map<string, GroupOutcome>()
  for (const group of groups) {
    const { key } = group
    const row = rows.get(key)
    if (!row) throw new Error('The upserted group was not found in its own transaction.')
    outcomes.set(key, {
      id: row.id,
      application_id,
      environment: row.environment,
      hash_signature: row.hash_signature,
      occurrence_count: row.occurrence_count,
      severity: reopened.get(key)?.severity ?? row.severity,
      status: reopened.has(key) ? 'new' : row.status,
      first_seen_at: row.first_seen_at,
      snoozed_until: row.snoozed_until,
      muted_at: row.muted_at,
      muted_until: row.muted_until,
      is_new: row.occurrence_count === group.count,
      reopened: reopened.has(key),
      regressed_in_version: reopened.get(key)?.regressed_in_version ?? null,
    })
  }
  await reopenGroups(trx, dialect, reopened, now)
  await insertSearchData(trx, dialect, groups, outcomes)
  const payloadIds = await insertPayloads(trx, dialect, groups, outcomes)
  await addSearchHistory(trx, dialect, groups, rows, payloadIds.added)
  await addRequestTexts(
    trx,
    dialect,
    withOutcomes(groups, outcomes).map(({ group: { kept }, outcome: { id, is_new } }) => ({
      id,
      is_new,
      events: kept,
    })),
  )
  await markLateHours(trx, dialect, groups, now)
  const occurrences = occurrenceRows(groups, rows, payloadIds.ids)
  await addSums(trx, dialect, groups, rows, application_id, occurrences, repeatedRows)
  await recordReleases(trx, dialect, groups, application_id, repeatedRows)
  await outbox.recorded(trx, withOutcomes(groups, outcomes))
  return { groups: outcomes, repeated }
}

function withOutcomes(groups: readonly FoldedGroup[], outcomes: ReadonlyMap<string, GroupOutcome>): RecordedGroup[] {
  return groups.flatMap((group) => {
    const outcome = outcomes.get(group.key)
    return outcome ? [{ group, outcome }] : []
  })
}

async function upsertGroups(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<Map<string, GroupRow>> {
  const returned = await dialect.insertMany(
    trx,
    GROUPS,
    groups.map(({ hash_signature, environment, oldest, newest, shown, count, severity }) => [
      application_id,
      environment,
      hash_signature,
      shown.error_type,
      shown.message,
      shown.message,
      shown.place,
      severity,
      shown.platform,
      shown.app_version,
      oldest.app_version,
      shown.git_sha,
      shown.user_id,
      newest.source ?? null,
      count,
      oldest.occurred_at,
      shown.occurred_at,
      newest.occurred_at,
    ]),
  )
  const rows = (returned as GroupRow[] | null) ?? (await readGroups(trx, groups, application_id))
  return new Map(rows.map((row) => [groupKey(row), row]))
}

/** Needed for databases that do not return upserted rows. The upsert holds the row locks. */
async function readGroups(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<GroupRow[]> {
  const environments = [...new Set(groups.map(({ environment }) => environment))]
  const signatures = [...new Set(groups.map(({ hash_signature }) => hash_signature))]
  return trx
    .selectFrom('faultboard_errors')
    .select([
      'id',
      'environment',
      'hash_signature',
      'error_type',
      'first_message',
      'severity',
      'occurred_at',
      'shown_at',
    ])
    .select(['occurrence_count', 'status'])
    .select(['resolved_at', 'reopened_at', 'resolved_by_name', 'snoozed_until', 'resolved_in_version'])
    .select(['first_seen_at', 'muted_at', 'muted_until', 'source'])
    .where('application_id', '=', application_id)
    .where('environment', 'in', environments)
    .where('hash_signature', 'in', signatures)
    .execute()
}

/** Inserts the search text and similarity features of new groups. */
async function insertSearchData(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  outcomes: ReadonlyMap<string, GroupOutcome>,
): Promise<void> {
  const texts: [number, string][] = []
  const features: [number, number][] = []
  for (const { key, shown } of groups) {
    const outcome = outcomes.get(key)
    if (!outcome?.is_new) continue
    const { error_type, message, backtrace } = shown
    texts.push([outcome.id, searchText([error_type, message, ...backtrace])])
    for (const feature of similarityFeatures(message, backtrace)) features.push([outcome.id, feature])
  }
  if (texts.length > 0) await dialect.insertMany(trx, SEARCH_TEXTS, texts)
  if (features.length > 0) await dialect.insertMany(trx, FEATURES, features)
}

/** Returns the ids of all payloads by `error_id digest`, and the keys of the payloads that this call added. */
async function insertPayloads(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  outcomes: ReadonlyMap<string, GroupOutcome>,
): Promise<{ ids: Map<string, number>; added: ReadonlySet<string> }> {
  const wanted = new Map<string, [error_id: number, digest: string, content: string]>()
  // Payloads of errors that existed before. A new error has no stored payload.
  const existing: [error_id: number, digest: string, content: string][] = []
  for (const { key: group, kept } of groups) {
    const { id: error_id = 0, is_new = false } = outcomes.get(group) ?? {}
    let previous: Payload | null = null
    for (const event of kept) {
      const payload = storedPayload(event)
      // Repeats from the same location share one payload object.
      if (payload === previous) continue
      previous = payload
      const key = `${error_id} ${payload.digest}`
      if (wanted.has(key)) continue
      wanted.set(key, [error_id, payload.digest, payload.content])
      if (!is_new) existing.push([error_id, payload.digest, payload.content])
    }
  }
  const known = await storedPayloads(trx, existing)
  const added = new Set([...wanted.keys()].filter((key) => !known.has(key)))
  if (added.size === 0) return { ids: known, added }
  const missing = [...wanted].filter(([key]) => added.has(key)).map(([, row]) => row)
  const inserted = (await dialect.insertMany(trx, PAYLOADS, missing)) as PayloadRow[] | null
  const ids = inserted?.length === missing.length ? idsByPayload(inserted) : await storedPayloads(trx, missing)
  return { ids: known.size > 0 ? new Map([...known, ...ids]) : ids, added }
}

interface PayloadRow {
  id: number
  error_id: number
  digest: string
}

async function storedPayloads(
  trx: Transaction<Schema>,
  wanted: readonly (readonly [error_id: number, digest: string, content: string])[],
): Promise<Map<string, number>> {
  if (wanted.length === 0) return new Map()
  const error_ids = [...new Set(wanted.map(([error_id]) => error_id))]
  const digests = [...new Set(wanted.map(([, digest]) => digest))]
  // Part of every flush. Raw SQL takes half the time of the query builder.
  const { rows } = await sql<PayloadRow>`
    select id, error_id, digest from faultboard_payloads
    where error_id in (${sql.join(error_ids)}) and digest in (${sql.join(digests)})`.execute(trx)
  return idsByPayload(rows)
}

function idsByPayload(rows: readonly PayloadRow[]): Map<string, number> {
  return new Map(rows.map(({ id, error_id, digest }) => [`${error_id} ${digest}`, id]))
}

function occurrenceRows(
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  payloads: ReadonlyMap<string, number>,
): BulkRow[] {
  return groups.flatMap(({ key, kept }) => {
    const group = rows.get(key)
    let previous: Payload | null = null
    let payload_id = 0
    return kept.map((event): (string | number | null)[] => {
      const payload = storedPayload(event)
      if (payload !== previous) payload_id = payloads.get(`${group?.id} ${payload.digest}`) ?? 0
      previous = payload
      return [
        group?.id ?? 0,
        payload_id,
        event.occurred_at,
        event.message === group?.first_message ? null : event.message,
        event.platform,
        event.app_version,
        event.git_sha,
        event.user_id,
        event.request_url,
        event.ip_address,
        event.user_agent,
        serializeContext(event.context),
      ]
    })
  })
}

/** Returns null for an empty context. */
function serializeContext(context: Readonly<Record<string, unknown>>): string | null {
  for (const _ in context) return JSON.stringify(context)
  return null
}

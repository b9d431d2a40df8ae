import { type Kysely, sql, type Transaction } from 'kysely'
import type { Status } from '../model/workflow.js'
import type { Database } from './database.js'
import type { BulkColumn, Dialect } from './dialect.js'
import { type FoldedGroup, payloadOf } from './fold.js'
import type { Schema } from './schema.js'

/** Folded groups that are written in one transaction, under an id that makes the writing of it happen once. */
export interface Batch {
  batch_id: string
  application_name: string
  groups: readonly FoldedGroup[]
  /** Whether an earlier attempt may have been committed without our knowing. */
  tried_before: boolean
}

/** What became of one group. */
export interface GroupOutcome {
  id: number
  application_id: number
  hash_signature: string
  occurrence_count: number
  status: Status
  snoozed_until: number | null
  is_new: boolean
  reopened: boolean
}

export interface BatchOutcome {
  /** The batch had been written already: nothing was counted this time. */
  duplicate: boolean
  groups: Map<string, GroupOutcome>
  refused: Refusal[]
}

/** A group that the database does not take, whatever is tried. */
export interface Refusal {
  group: FoldedGroup
  error: unknown
}

export interface RecordOptions {
  application_id: number
  now: number
  /** Keeps groups that were refused. Called before the commit, so that they are never in neither place. */
  setAside(groups: FoldedGroup[]): void
}

/**
 * Writes a batch: groups first, by upsert in the order of their signatures, which takes the row locks without
 * deadlocks; then what hangs on them. A lock that is asked for before the row exists (select for update, then insert)
 * fails for concurrent first sights on PostgreSQL and MariaDB.
 */
export async function recordBatch(database: Database, batch: Batch, options: RecordOptions): Promise<BatchOutcome> {
  const sorted = [...batch.groups].sort((a, b) => (a.hash_signature < b.hash_signature ? -1 : 1))
  try {
    return await once(database, batch, options, async (trx) => ({
      duplicate: false,
      groups: await recordGroups(trx, database.dialect, sorted, options),
      refused: [],
    }))
  } catch (error) {
    if (!isRefusal(database, error)) throw error
  }
  // Something in it is refused: the groups are written one by one, so that the others do not suffer for it.
  return once(database, { ...batch, tried_before: true }, options, (trx) => oneByOne(trx, database, sorted, options))
}

/** Whether the fault lies in what was to be written, and not in the database. */
export function isRefusal({ dialect }: Database, error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || dialect.faultOf(error) === 'statement'
}

async function once(
  database: Database,
  { batch_id, tried_before }: Batch,
  { now }: RecordOptions,
  work: (trx: Transaction<Schema>) => Promise<BatchOutcome>,
): Promise<BatchOutcome> {
  return database.write(async (trx) => {
    if (tried_before && (await isWritten(trx, batch_id))) return { duplicate: true, groups: new Map(), refused: [] }
    await database.dialect.insertMany(trx, {
      table: 'faultboard_batches',
      columns: [text('batch_id'), integer('created_at')],
      rows: [[batch_id, now]],
    })
    return work(trx)
  })
}

async function oneByOne(
  trx: Transaction<Schema>,
  database: Database,
  groups: readonly FoldedGroup[],
  options: RecordOptions,
): Promise<BatchOutcome> {
  const outcome: BatchOutcome = { duplicate: false, groups: new Map(), refused: [] }
  for (const group of groups) {
    await sql`savepoint faultboard_group`.execute(trx)
    try {
      const [recorded] = await recordGroups(trx, database.dialect, [group], options)
      if (recorded) outcome.groups.set(...recorded)
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

async function recordGroups(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  { application_id, now }: RecordOptions,
): Promise<Map<string, GroupOutcome>> {
  await upsertGroups(trx, dialect, groups, application_id)
  const rows = await readGroups(trx, groups, application_id)
  const outcomes = new Map<string, GroupOutcome>()
  for (const group of groups) {
    const row = rows.get(group.hash_signature)
    if (!row) throw new Error('a group vanished inside its own transaction')
    const { resolved_at, message: _, ...state } = row
    outcomes.set(group.hash_signature, {
      ...state,
      application_id,
      is_new: row.occurrence_count === group.count,
      reopened: row.status === 'resolved' && group.newest.occurred_at > (resolved_at ?? 0),
    })
  }
  const reopened = [...outcomes.values()].filter((outcome) => outcome.reopened)
  await reopen(trx, dialect, reopened, rows, now)
  await insertSearchTexts(trx, dialect, groups, outcomes)
  const payloadIds = await insertPayloads(trx, dialect, groups, outcomes)
  await insertOccurrences(trx, dialect, groups, rows, payloadIds)
  await addSums(trx, dialect, groups, outcomes, application_id)
  return outcomes
}

export async function isWritten(db: Kysely<Schema>, batch_id: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('faultboard_batches')
      .select('batch_id')
      .where('batch_id', '=', batch_id)
      .executeTakeFirst()) !== undefined
  )
}

async function upsertGroups(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<void> {
  await dialect.insertMany(trx, {
    table: 'faultboard_errors',
    columns: [
      integer('application_id'),
      ...['hash_signature', 'error_type', 'message', 'place', 'severity', 'platform', 'app_version'].map(text),
      ...['first_app_version', 'git_sha', 'user_id'].map(text),
      ...['occurrence_count', 'first_seen_at', 'occurred_at'].map(integer),
    ],
    rows: groups.map(({ hash_signature, first, newest, count, first_seen_at }) => [
      application_id,
      hash_signature,
      first.error_type,
      first.message,
      newest.place,
      newest.severity,
      newest.platform,
      newest.app_version,
      first.app_version,
      newest.git_sha,
      newest.user_id,
      count,
      first_seen_at,
      newest.occurred_at,
    ]),
    on_conflict: {
      key: ['application_id', 'hash_signature'],
      update: [
        ...(['place', 'severity', 'platform', 'app_version', 'git_sha', 'user_id'] as const).map((column) => ({
          column,
          by: 'newest' as const,
        })),
        { column: 'occurrence_count', by: 'add' },
        { column: 'first_seen_at', by: 'least' },
        // Last, because MySQL evaluates one assignment after the other and `newest` compares with it.
        { column: 'occurred_at', by: 'greatest' },
      ],
    },
  })
}

interface GroupRow {
  id: number
  hash_signature: string
  message: string
  occurrence_count: number
  status: Status
  resolved_at: number | null
  resolved_by_name: string | null
  snoozed_until: number | null
}

async function readGroups(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<Map<string, GroupRow>> {
  const rows = await trx
    .selectFrom('faultboard_errors')
    .select([
      'id',
      'hash_signature',
      'message',
      'occurrence_count',
      'status',
      'resolved_at',
      'resolved_by_name',
      'snoozed_until',
    ])
    .where('application_id', '=', application_id)
    .where(
      'hash_signature',
      'in',
      groups.map(({ hash_signature }) => hash_signature),
    )
    .execute()
  return new Map(rows.map((row) => [row.hash_signature, row]))
}

async function reopen(
  trx: Transaction<Schema>,
  dialect: Dialect,
  reopened: readonly GroupOutcome[],
  rows: ReadonlyMap<string, GroupRow>,
  now: number,
): Promise<void> {
  if (reopened.length === 0) return
  await trx
    .updateTable('faultboard_errors')
    .set({
      status: 'new',
      resolved: 0,
      reopened_at: now,
      resolved_at: null,
      resolved_by_name: null,
      resolution_comment: null,
      resolution_reference: null,
    })
    .where(
      'id',
      'in',
      reopened.map(({ id }) => id),
    )
    .execute()
  await dialect.insertMany(trx, {
    table: 'faultboard_activities',
    columns: [
      integer('error_id'),
      ...['actor', 'action', 'from_value', 'to_value', 'comment'].map(text),
      integer('created_at'),
    ],
    rows: reopened.map(({ id, hash_signature }) => {
      const by = rows.get(hash_signature)?.resolved_by_name
      return [
        id,
        'Faultboard',
        'reopened',
        'resolved',
        'new',
        `It occurred again after ${by ?? 'someone'} had resolved it.`,
        now,
      ]
    }),
  })
  for (const outcome of reopened) outcome.status = 'new'
}

async function insertSearchTexts(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  outcomes: ReadonlyMap<string, GroupOutcome>,
): Promise<void> {
  const rows = groups.flatMap(({ hash_signature, first }): [number, string][] => {
    const outcome = outcomes.get(hash_signature)
    return outcome?.is_new
      ? [[outcome.id, [first.error_type, first.message, ...first.backtrace].join('\n').toLowerCase()]]
      : []
  })
  if (rows.length === 0) return
  await dialect.insertMany(trx, {
    table: 'faultboard_error_search',
    columns: [integer('error_id'), text('search_text')],
    rows,
    on_conflict: { key: ['error_id'], update: [] },
  })
}

/** The ids of the distinct payloads, by `error_id digest`. */
async function insertPayloads(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  outcomes: ReadonlyMap<string, GroupOutcome>,
): Promise<Map<string, number>> {
  const wanted = new Map<string, [error_id: number, digest: string, content: string]>()
  for (const { hash_signature, kept } of groups) {
    const error_id = outcomes.get(hash_signature)?.id ?? 0
    for (const event of kept) {
      const { digest, content } = payloadOf(event)
      wanted.set(`${error_id} ${digest}`, [error_id, digest, content])
    }
  }
  const known = await payloadIds(trx, [...wanted.values()])
  const missing = [...wanted].filter(([key]) => !known.has(key)).map(([, row]) => row)
  if (missing.length === 0) return known
  await dialect.insertMany(trx, {
    table: 'faultboard_payloads',
    columns: [integer('error_id'), text('digest'), text('content')],
    rows: missing,
    on_conflict: { key: ['error_id', 'digest'], update: [] },
  })
  return new Map([...known, ...(await payloadIds(trx, missing))])
}

async function payloadIds(
  trx: Transaction<Schema>,
  wanted: readonly (readonly [error_id: number, digest: string, content: string])[],
): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('faultboard_payloads')
    .select(['id', 'error_id', 'digest'])
    .where('error_id', 'in', [...new Set(wanted.map(([error_id]) => error_id))])
    .where('digest', 'in', [...new Set(wanted.map(([, digest]) => digest))])
    .execute()
  return new Map(rows.map(({ id, error_id, digest }) => [`${error_id} ${digest}`, id]))
}

async function insertOccurrences(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  payloads: ReadonlyMap<string, number>,
): Promise<void> {
  const occurrences = groups.flatMap(({ hash_signature, kept }) => {
    const group = rows.get(hash_signature)
    return kept.map((event): (string | number | null)[] => [
      group?.id ?? 0,
      payloads.get(`${group?.id} ${payloadOf(event).digest}`) ?? 0,
      event.occurred_at,
      event.message === group?.message ? null : event.message,
      event.platform,
      event.app_version,
      event.git_sha,
      event.user_id,
      event.request_url,
      event.ip_address,
      event.user_agent,
      contextText(event.context),
    ])
  })
  await dialect.insertMany(trx, {
    table: 'faultboard_occurrences',
    columns: [
      ...['error_id', 'payload_id', 'occurred_at'].map(integer),
      ...[
        'message',
        'platform',
        'app_version',
        'git_sha',
        'user_id',
        'request_url',
        'ip_address',
        'user_agent',
        'context',
      ].map(text),
    ],
    rows: occurrences,
  })
}

function contextText(context: Readonly<Record<string, unknown>>): string | null {
  for (const _ in context) return JSON.stringify(context)
  return null
}

/** The sums come last: their rows are shared by all groups of an application, and are locked the shortest that way. */
async function addSums(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  outcomes: ReadonlyMap<string, GroupOutcome>,
  application_id: number,
): Promise<void> {
  const dimensions = ['severity', 'platform', 'app_version']
  const ofErrors: (string | number)[][] = []
  const ofUsers: (string | number)[][] = []
  const ofApplication = new Map<string, (string | number)[]>()
  for (const group of groups) {
    const error_id = outcomes.get(group.hash_signature)?.id ?? 0
    for (const [key, { hour, severity, platform, app_version, count }] of group.hours) {
      ofErrors.push([error_id, hour, severity, platform, app_version, count])
      const sum = ofApplication.get(key)
      if (sum) sum[5] = Number(sum[5]) + count
      else ofApplication.set(key, [application_id, hour, severity, platform, app_version, count])
    }
    for (const { user_id, count, first_seen_at, last_seen_at } of group.users.values()) {
      ofUsers.push([error_id, user_id, count, first_seen_at, last_seen_at])
    }
  }
  await dialect.insertMany(trx, {
    table: 'faultboard_error_hours',
    columns: [integer('error_id'), integer('hour'), ...dimensions.map(text), integer('count')],
    rows: ofErrors,
    on_conflict: { key: ['error_id', 'hour', ...dimensions], update: [{ column: 'count', by: 'add' }] },
  })
  if (ofUsers.length > 0) {
    await dialect.insertMany(trx, {
      table: 'faultboard_error_users',
      columns: [integer('error_id'), text('user_id'), ...['count', 'first_seen_at', 'last_seen_at'].map(integer)],
      rows: ofUsers,
      on_conflict: {
        key: ['error_id', 'user_id'],
        update: [
          { column: 'count', by: 'add' },
          { column: 'first_seen_at', by: 'least' },
          { column: 'last_seen_at', by: 'greatest' },
        ],
      },
    })
  }
  await dialect.insertMany(trx, {
    table: 'faultboard_application_hours',
    columns: [integer('application_id'), integer('hour'), ...dimensions.map(text), integer('count')],
    // In one order for every process, so that two flushes wait for each other rather than deadlock.
    rows: [...ofApplication].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    on_conflict: { key: ['application_id', 'hour', ...dimensions], update: [{ column: 'count', by: 'add' }] },
  })
}

function integer(name: string): BulkColumn {
  return { name, type: 'integer' }
}

function text(name: string): BulkColumn {
  return { name, type: 'text' }
}

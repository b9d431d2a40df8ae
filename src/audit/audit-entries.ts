import * as v from 'valibot'
import type { Context } from '../context.js'
import { BYTE_ORDER_MARK, csvRow, MAX_DOWNLOADED_ROWS } from '../model/csv.js'
import { choice, clampedInteger, filterText, id, optional } from '../model/input/input.js'
import { AUDIT_ACTIONS, AUDIT_KINDS } from '../model/people/audit.js'
import * as r from '../model/result.js'
import { TIMEFRAMES, timeframeSpan } from '../model/time.js'
import { defineOperation } from '../operation.js'
import type { Selectable } from '../store/kysely.js'
import type { AuditEntriesTable } from '../store/schema.js'
import { byteOrder } from '../store/sql/sort-order.js'

/** Change by a person, a program or the tracker. */
export const AuditEntry = r.object({
  id: r.integer,
  created_at: r.time,
  actor: r.text,
  kind: r.oneOf(AUDIT_KINDS),
  /** Network address of the request. */
  address: r.nullable(r.text),
  action: r.oneOf(AUDIT_ACTIONS),
  error_id: r.nullable(r.integer),
  /** Application of the error. Null without an error, and after the error was deleted. */
  application_name: r.nullable(r.text),
  /** Changed record that is not an error, such as the name of a view. */
  target: r.nullable(r.text),
  /** Number of records changed by a bulk action. */
  count: r.nullable(r.integer),
  /** New value, such as the assignee. */
  detail: r.nullable(r.text),
})
export type AuditEntry = v.InferOutput<typeof AuditEntry>

export const AuditPage = r.object({ entries: r.list(AuditEntry), pagination: r.PlainPagination })
export type AuditPage = v.InferOutput<typeof AuditPage>

export const auditInput = v.object({
  actor: filterText({ max: 255 }),
  kind: optional(choice(AUDIT_KINDS)),
  action: optional(choice(AUDIT_ACTIONS)),
  timeframe: optional(choice(TIMEFRAMES)),
  error_id: optional(id()),
  page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
  per_page: optional(clampedInteger({ min: 1, max: 100 })),
})

export type AuditFilter = v.InferOutput<typeof auditInput>

/** Lists changes of all applications, newest first. */
export const auditEntries = defineOperation({
  input: auditInput,
  async run(context, input): Promise<AuditPage> {
    const { per_page = 25 } = input
    const { total } = await matchingEntries(context, input)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const total_pages = Math.max(1, Math.ceil(total / per_page))
    const page = Math.min(input.page ?? 1, total_pages)
    const rows = await entriesWithErrors(context, input)
      .limit(per_page)
      .offset((page - 1) * per_page)
      .execute()
    return { entries: rows.map(toEntry), pagination: { page, per_page, total_count: total, total_pages } }
  },
})

/** More names would make the select box unusable. */
const MAX_ACTORS = 200

/** Actors to offer in the filter. */
export const auditActors = defineOperation({
  input: v.object({}),
  async run({ database }): Promise<string[]> {
    const rows = await database.read
      .selectFrom('faultboard_audit_entries')
      .select('actor')
      // Not DISTINCT: PostgreSQL cannot sort its rows by another collation.
      .groupBy('actor')
      .orderBy(byteOrder(database.dialect, 'actor'))
      .limit(MAX_ACTORS)
      .execute()
    return rows.map(({ actor }) => actor)
  },
})

const COLUMNS = Object.keys(AuditEntry.entries) as (keyof AuditEntry)[]
const ROWS_PER_BATCH = 500

/** Lists the newest matching changes as CSV. Ignores `page` and `per_page`. */
export async function* auditCsv(context: Context, filter: AuditFilter): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvRow(COLUMNS)
  let last = { created_at: Number.MAX_SAFE_INTEGER, id: 0 }
  for (let written = 0; written < MAX_DOWNLOADED_ROWS; written += ROWS_PER_BATCH) {
    const { created_at, id } = last
    const rows = await entriesWithErrors(context, filter)
      .where('c.created_at', '<=', created_at)
      .where(({ eb, or }) => or([eb('c.created_at', '<', created_at), eb('c.id', '<', id)]))
      .limit(ROWS_PER_BATCH)
      .execute()
    yield rows
      .map(toEntry)
      .map((entry) => csvRow(COLUMNS.map((column) => entry[column])))
      .join('')
    last = rows.at(-1) ?? last
    if (rows.length < ROWS_PER_BATCH) return
  }
}

function matchingEntries({ database, config, now }: Context, filter: AuditFilter) {
  const { actor, kind, action, timeframe, error_id } = filter
  const span = timeframe && timeframeSpan(timeframe, now(), config.time_zone)
  return database.read
    .selectFrom('faultboard_audit_entries as c')
    .$if(actor !== undefined, (query) => query.where('c.actor', '=', actor ?? ''))
    .$if(kind !== undefined, (query) => query.where('c.kind', '=', kind ?? 'system'))
    .$if(action !== undefined, (query) => query.where('c.action', '=', action ?? 'resolve'))
    .$if(error_id !== undefined, (query) => query.where('c.error_id', '=', error_id ?? 0))
    .$if(span !== undefined, (query) => query.where('c.created_at', '>=', span?.from ?? 0))
    .$if(typeof span?.to === 'number', (query) => query.where('c.created_at', '<', span?.to ?? 0))
}

function entriesWithErrors(context: Context, filter: AuditFilter) {
  return matchingEntries(context, filter)
    .leftJoin('faultboard_errors as e', 'e.id', 'c.error_id')
    .leftJoin('faultboard_applications as a', 'a.id', 'e.application_id')
    .selectAll('c')
    .select('a.name as application_name')
    .orderBy('c.created_at', 'desc')
    .orderBy('c.id', 'desc')
}

function toEntry({
  created_at,
  ...row
}: Selectable<AuditEntriesTable> & { application_name: string | null }): AuditEntry {
  const { id, actor, kind, address, action, error_id, application_name, target, count, detail } = row
  return {
    ...{ id, created_at: new Date(created_at).toISOString(), actor, kind, address, action, error_id },
    ...{ application_name, target, count, detail },
  }
}

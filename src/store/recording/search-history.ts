import { hash } from 'node:crypto'
import { SEARCH_HISTORY } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { GroupRow } from './batch.js'
import { type FoldedGroup, storedPayload } from './folded-group.js'
import { storedCache } from './stored-cache.js'

/** Limits the texts of each kind per error, in addition to its first message and backtrace. Covers several deploys. */
const MAX_TEXTS = 20
/** Trimming takes two statements, so an error whose message changes in every batch is trimmed every 30 batches. */
const MAX_UNTRIMMED_TEXTS = 30

interface HistoryText {
  error_id: number
  kind: 'message' | 'backtrace'
  digest: string
  search_text: string
}

/** Joins lines in lower case, so that every database compares them in the same way. */
export function searchText(lines: readonly string[]): string {
  return lines.join('\n').toLowerCase()
}

/**
 * Makes the shown content of errors searchable: messages that differ from the first message, new backtraces, and shown
 * backtraces that were trimmed from the history. The database skips texts that it contains already.
 */
export async function addSearchHistory(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  addedPayloads: ReadonlySet<string>,
): Promise<void> {
  const texts: HistoryText[] = []
  const repeated: HistoryText[] = []
  const known = storedCache(dialect)
  for (const group of groups) {
    const row = rows.get(group.key)
    if (!row) continue
    if (addedPayloads.size > 0) texts.push(...newBacktraces(group, row, addedPayloads))
    const message = newMessage(group, row)
    if (message) texts.push(message)
    const shown = repeatedBacktrace(group, row, addedPayloads)
    if (shown && known.backtraces.get(row.id) !== shown.digest) repeated.push(shown)
  }
  if (repeated.length > 0) {
    const trimmed = await withoutFirst(trx, await withoutStored(trx, repeated))
    const missing = new Set(trimmed)
    for (const text of repeated) if (!missing.has(text)) known.backtraces.set(text.error_id, text.digest)
    texts.push(...trimmed)
  }
  if (texts.length === 0) return
  const inserted = await dialect.insertMany(
    trx,
    SEARCH_HISTORY,
    texts.map(({ error_id, kind, digest, search_text }) => [error_id, kind, digest, search_text]),
  )
  const changedErrors = (inserted ?? texts).map(({ error_id }) => Number(error_id))
  await trimHistory(trx, dueForTrimming(known.untrimmed, changedErrors))
}

/** Returns the shown message, unless it is the first message or belongs to a late occurrence. */
function newMessage({ shown }: FoldedGroup, row: GroupRow): HistoryText | null {
  if (shown.message === row.first_message || row.shown_at !== shown.occurred_at) return null
  const search_text = searchText([shown.message])
  const digest = hash('sha256', search_text)
  return { error_id: row.id, kind: 'message', digest, search_text }
}

/** Returns the backtrace that a known error shows, unless its payload is new. */
function repeatedBacktrace(
  { shown, count }: FoldedGroup,
  { id, occurrence_count, shown_at }: GroupRow,
  addedPayloads: ReadonlySet<string>,
): HistoryText | null {
  if (occurrence_count === count || shown_at !== shown.occurred_at) return null
  const { digest } = storedPayload(shown)
  if (addedPayloads.has(`${id} ${digest}`)) return null
  return { error_id: id, kind: 'backtrace', digest, search_text: searchText(shown.backtrace) }
}

function dueForTrimming(untrimmed: Map<number, number>, changedErrors: readonly number[]): number[] {
  for (const error_id of changedErrors) {
    untrimmed.set(error_id, (untrimmed.get(error_id) ?? MAX_UNTRIMMED_TEXTS) + 1)
  }
  const due = [...new Set(changedErrors)].filter((error_id) => (untrimmed.get(error_id) ?? 0) >= MAX_UNTRIMMED_TEXTS)
  for (const error_id of due) untrimmed.set(error_id, 0)
  return due
}

/** Omits the first backtrace of each error, which is part of its first search text. */
async function withoutFirst(trx: Transaction<Schema>, texts: readonly HistoryText[]): Promise<readonly HistoryText[]> {
  if (texts.length === 0) return texts
  const { rows } = await sql<{ error_id: number; search_text: string }>`
    select error_id, search_text from faultboard_error_search
    where error_id in (${sql.join(texts.map(({ error_id }) => error_id))})`.execute(trx)
  const first = new Map(rows.map(({ error_id, search_text }) => [error_id, search_text]))
  return texts.filter(({ error_id, search_text }) => !first.get(error_id)?.endsWith(search_text))
}

function newBacktraces(
  { kept, shown, count }: FoldedGroup,
  { id, occurrence_count }: GroupRow,
  addedPayloads: ReadonlySet<string>,
): HistoryText[] {
  // The search text of a new error contains the backtrace of the shown occurrence.
  const first = occurrence_count === count ? shown.backtrace : null
  const texts = new Map<string, HistoryText>()
  for (const event of kept) {
    const { digest } = storedPayload(event)
    if (event.backtrace === first || !addedPayloads.has(`${id} ${digest}`) || texts.has(digest)) continue
    texts.set(digest, { error_id: id, kind: 'backtrace', digest, search_text: searchText(event.backtrace) })
  }
  return [...texts.values()]
}

async function withoutStored(trx: Transaction<Schema>, texts: readonly HistoryText[]): Promise<HistoryText[]> {
  const { rows } = await sql<{ error_id: number; digest: string }>`
    select error_id, digest from faultboard_search_history
    where error_id in (${sql.join(texts.map(({ error_id }) => error_id))})
      and digest in (${sql.join([...new Set(texts.map(({ digest }) => digest))])})`.execute(trx)
  const stored = new Set(rows.map(({ error_id, digest }) => `${error_id} ${digest}`))
  return texts.filter(({ error_id, digest }) => !stored.has(`${error_id} ${digest}`))
}

async function trimHistory(trx: Transaction<Schema>, error_ids: readonly number[]): Promise<void> {
  if (error_ids.length === 0) return
  const { rows } = await sql<{ id: number }>`
    select id from (
      select id, row_number() over (partition by error_id, kind order by id desc) as age
      from faultboard_search_history where error_id in (${sql.join([...error_ids])})
    ) as aged where age > ${sql.lit(MAX_TEXTS)}`.execute(trx)
  if (rows.length === 0) return
  await sql`delete from faultboard_search_history where id in (${sql.join(rows.map(({ id }) => id))})`.execute(trx)
}

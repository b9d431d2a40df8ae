import { createHash } from 'node:crypto'
import { SEARCH_HISTORY } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema, SearchHistoryTable } from '../schema.js'
import type { GroupRow } from './batch.js'
import { type FoldedGroup, storedPayload } from './folded-group.js'

/** Limits the texts of each kind per error, in addition to its first message and backtrace. Covers several deploys. */
const MAX_TEXTS = 20
/** Trimming takes two statements, so an error whose message changes in every batch is trimmed every tenth batch. */
const MAX_UNTRIMMED_TEXTS = 10

interface Text {
  error_id: number
  kind: SearchHistoryTable['kind']
  digest: string
  search_text: string
}

/** Joins lines in lower case, so that every database compares them in the same way. */
export function searchText(lines: readonly string[]): string {
  return lines.join('\n').toLowerCase()
}

/** Cache of this process about stored texts, by error id. */
interface KnownTexts {
  /** Digest of the stored backtrace that the error shows. Repeats of it need no query. */
  backtraces: Map<number, string>
  /** Number of texts added since the last trim. An error without an entry was never trimmed by this process. */
  untrimmed: Map<number, number>
}

const knownTextsByDialect = new WeakMap<Dialect, KnownTexts>()
const MAX_CACHED_ERRORS = 5000

/**
 * Stores changed messages and backtraces, so that a search finds errors by the text they show now. Includes a shown
 * backtrace that was trimmed earlier. Writes only texts that are not stored yet and trims the oldest.
 */
export async function addSearchHistory(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  addedPayloads: ReadonlySet<string>,
): Promise<void> {
  const backtraces = new Map<string, Text>()
  const messages = new Map<string, Text>()
  const repeated = new Map<string, Text>()
  const known = knownTexts(dialect)
  for (const group of groups) {
    const row = rows.get(group.hash_signature)
    if (!row) continue
    const message = newMessage(group, row)
    if (message) messages.set(`${row.id} ${message.digest}`, message)
    if (addedPayloads.size > 0) addBacktraces(backtraces, group, row, addedPayloads)
    const shown = repeatedBacktrace(group, row, addedPayloads)
    if (shown && known.backtraces.get(row.id) !== shown.digest) repeated.set(`${row.id} ${shown.digest}`, shown)
  }
  const unknown = await unknownTexts(trx, new Map([...messages, ...repeated]))
  const trimmed = await withoutFirst(
    trx,
    unknown.filter(({ kind }) => kind === 'backtrace'),
  )
  const missing = new Set(trimmed)
  for (const text of repeated.values()) if (!missing.has(text)) known.backtraces.set(text.error_id, text.digest)
  const texts = [...backtraces.values(), ...unknown.filter(({ kind }) => kind === 'message'), ...trimmed]
  if (texts.length === 0) return
  await dialect.insertMany(
    trx,
    SEARCH_HISTORY,
    texts.map(({ error_id, kind, digest, search_text }) => [error_id, kind, digest, search_text]),
  )
  await trim(trx, dueForTrimming(known, texts))
}

/** Returns the shown message, unless it is the first message or belongs to a late occurrence. */
function newMessage({ shown }: FoldedGroup, row: GroupRow): Text | null {
  if (shown.message === row.first_message || row.shown_at !== shown.occurred_at) return null
  const search_text = searchText([shown.message])
  const digest = createHash('sha256').update(search_text).digest('hex')
  return { error_id: row.id, kind: 'message', digest, search_text }
}

/** Returns the backtrace that a known error shows, unless its payload is new. */
function repeatedBacktrace(
  { shown, count }: FoldedGroup,
  { id, occurrence_count, shown_at }: GroupRow,
  addedPayloads: ReadonlySet<string>,
): Text | null {
  if (occurrence_count === count || shown_at !== shown.occurred_at) return null
  const { digest } = storedPayload(shown)
  if (addedPayloads.has(`${id} ${digest}`)) return null
  return { error_id: id, kind: 'backtrace', digest, search_text: searchText(shown.backtrace) }
}

function knownTexts(dialect: Dialect): KnownTexts {
  const known = knownTextsByDialect.get(dialect)
  if (known && known.backtraces.size < MAX_CACHED_ERRORS && known.untrimmed.size < MAX_CACHED_ERRORS) return known
  const empty: KnownTexts = { backtraces: new Map(), untrimmed: new Map() }
  knownTextsByDialect.set(dialect, empty)
  return empty
}

function dueForTrimming({ untrimmed }: KnownTexts, added: readonly Text[]): number[] {
  const due: number[] = []
  for (const { error_id } of added) {
    untrimmed.set(error_id, (untrimmed.get(error_id) ?? MAX_UNTRIMMED_TEXTS) + 1)
  }
  for (const error_id of new Set(added.map((text) => text.error_id))) {
    if ((untrimmed.get(error_id) ?? 0) < MAX_UNTRIMMED_TEXTS) continue
    due.push(error_id)
    untrimmed.set(error_id, 0)
  }
  return due
}

/** Drops the first backtraces of errors, which are part of their initial search text. */
async function withoutFirst(trx: Transaction<Schema>, texts: readonly Text[]): Promise<readonly Text[]> {
  if (texts.length === 0) return texts
  const { rows } = await sql<{ error_id: number; search_text: string }>`
    select error_id, search_text from faultboard_error_search
    where error_id in (${sql.join(texts.map(({ error_id }) => error_id))})`.execute(trx)
  const first = new Map(rows.map(({ error_id, search_text }) => [error_id, search_text]))
  return texts.filter(({ error_id, search_text }) => !first.get(error_id)?.endsWith(search_text))
}

function addBacktraces(
  texts: Map<string, Text>,
  { kept, shown, count }: FoldedGroup,
  { id, occurrence_count }: GroupRow,
  addedPayloads: ReadonlySet<string>,
): void {
  // The initial search text of a new error contains the shown backtrace.
  const initial = occurrence_count === count ? shown.backtrace : null
  for (const event of kept) {
    const { digest } = storedPayload(event)
    const key = `${id} ${digest}`
    if (event.backtrace === initial || !addedPayloads.has(key) || texts.has(key)) continue
    texts.set(key, { error_id: id, kind: 'backtrace', digest, search_text: searchText(event.backtrace) })
  }
}

async function unknownTexts(trx: Transaction<Schema>, texts: ReadonlyMap<string, Text>): Promise<Text[]> {
  if (texts.size === 0) return []
  const wanted = [...texts.values()]
  const { rows } = await sql<{ error_id: number; digest: string }>`
    select error_id, digest from faultboard_search_history
    where error_id in (${sql.join([...new Set(wanted.map(({ error_id }) => error_id))])})
      and digest in (${sql.join([...new Set(wanted.map(({ digest }) => digest))])})`.execute(trx)
  const known = new Set(rows.map(({ error_id, digest }) => `${error_id} ${digest}`))
  return [...texts].filter(([key]) => !known.has(key)).map(([, text]) => text)
}

async function trim(trx: Transaction<Schema>, error_ids: readonly number[]): Promise<void> {
  if (error_ids.length === 0) return
  const { rows } = await sql<{ id: number }>`
    select id from (
      select id, row_number() over (partition by error_id, kind order by id desc) as age
      from faultboard_search_history where error_id in (${sql.join([...error_ids])})
    ) as aged where age > ${sql.lit(MAX_TEXTS)}`.execute(trx)
  if (rows.length === 0) return
  await sql`delete from faultboard_search_history where id in (${sql.join(rows.map(({ id }) => id))})`.execute(trx)
}

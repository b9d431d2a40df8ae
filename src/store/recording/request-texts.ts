import { hash } from 'node:crypto'
import type { ErrorEvent } from '../../model/event.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { REQUEST_TEXTS } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Limits the searchable URLs and the searchable tags per error, so that ids in tags cannot fill the table. */
const MAX_VALUES = 20
/** Limits the work for a storm. Later batches add what this one skips. */
const MAX_EXAMINED_EVENTS = 20
const MAX_CACHED_ERRORS = 5000

type RequestEvent = Pick<ErrorEvent, 'request_url' | 'context'>

export interface ErrorWithRequests {
  id: number
  is_new: boolean
  events: readonly RequestEvent[]
}

interface RequestValues {
  urls: Set<string>
  /** Lines such as `city=berlin`. */
  tags: Set<string>
}

/** Values that are known to be stored, by error id. Values of an uncommitted transaction are never added. */
const storedByDialect = new WeakMap<Dialect, Map<number, RequestValues>>()

/** Makes the URLs and tags of new occurrences searchable, each once per error. */
export async function addRequestTexts(
  trx: Transaction<Schema>,
  dialect: Dialect,
  errors: readonly ErrorWithRequests[],
): Promise<void> {
  const cache = storedValues(dialect)
  const unknown: ErrorWithRequests[] = []
  for (const error of errors) {
    if (hasValues(newValues(error, cache.get(error.id)))) unknown.push(error)
  }
  if (unknown.length === 0) return
  const repeated = unknown.filter(({ is_new }) => !is_new).map(({ id }) => id)
  const stored = await readStoredValues(trx, repeated)
  for (const [id, values] of stored) cache.set(id, values)
  const rows = unknown.flatMap((error) => textRows(error.id, newValues(error, stored.get(error.id))))
  if (rows.length > 0) await dialect.insertMany(trx, REQUEST_TEXTS, rows)
}

function storedValues(dialect: Dialect): Map<number, RequestValues> {
  const known = storedByDialect.get(dialect)
  if (known && known.size < MAX_CACHED_ERRORS) return known
  const empty = new Map<number, RequestValues>()
  storedByDialect.set(dialect, empty)
  return empty
}

/** Values of the newest events that are not stored, up to the limits. */
function newValues(
  { events }: ErrorWithRequests,
  stored: RequestValues = { urls: new Set(), tags: new Set() },
): RequestValues {
  const found: RequestValues = { urls: new Set(), tags: new Set() }
  const add = (kind: keyof RequestValues, value: string) => {
    if (!stored[kind].has(value) && stored[kind].size + found[kind].size < MAX_VALUES) found[kind].add(value)
  }
  for (const { request_url, context } of events.slice(-MAX_EXAMINED_EVENTS)) {
    if (request_url) add('urls', pathPattern(request_url).toLowerCase())
    const { tags } = context
    if (typeof tags !== 'object' || tags === null) continue
    for (const [name, value] of Object.entries(tags)) add('tags', `${name}=${value}`.toLowerCase().replace(/\s+/g, ' '))
  }
  return found
}

function hasValues({ urls, tags }: RequestValues): boolean {
  return urls.size + tags.size > 0
}

/** One text per URL, and one text for all tags. A tag starts and ends with a line break, so that it can be found exactly. */
function textRows(error_id: number, { urls, tags }: RequestValues): (string | number)[][] {
  const texts = [
    ...[...urls].map((url) => ['url', url] as const),
    ...(tags.size > 0 ? [['tag', `\n${[...tags].join('\n')}\n`] as const] : []),
  ]
  return texts.map(([kind, text]) => [error_id, kind, hash('sha256', `${kind}\n${text}`), text])
}

async function readStoredValues(
  trx: Transaction<Schema>,
  error_ids: readonly number[],
): Promise<Map<number, RequestValues>> {
  const values = new Map(error_ids.map((id): [number, RequestValues] => [id, { urls: new Set(), tags: new Set() }]))
  if (error_ids.length === 0) return values
  const { rows } = await sql<{ error_id: number; kind: string; search_text: string }>`
    select error_id, kind, search_text from faultboard_search_history
    where error_id in (${sql.join([...error_ids])}) and kind in ('url', 'tag')`.execute(trx)
  for (const { error_id, kind, search_text } of rows) {
    const { urls, tags } = values.get(error_id) ?? { urls: new Set(), tags: new Set() }
    if (kind === 'url') urls.add(search_text)
    else for (const tag of search_text.split('\n').filter((line) => line !== '')) tags.add(tag)
  }
  return values
}

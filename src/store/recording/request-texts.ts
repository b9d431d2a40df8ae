import { hash } from 'node:crypto'
import type { ErrorEvent } from '../../model/event.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { MAX_TAG_KEYS, MAX_TAG_VALUES, readTags, type Tag } from '../../model/tags.js'
import { OMITTED_KEYS } from '../../model/text.js'
import { ERROR_TAGS, REQUEST_TEXTS } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import { sql, type Transaction } from '../kysely.js'
import { MORE_VALUES, type Schema } from '../schema.js'
import { type RequestValues, storedCache } from './stored-cache.js'

/** Limits the searchable URLs and the searchable tags per error, so that ids in them cannot fill the table. */
const MAX_TEXTS = 20
/** Limits the work during a storm. Later batches add the skipped texts. */
const MAX_EXAMINED_EVENTS = 20

type RequestEvent = Pick<ErrorEvent, 'request_url' | 'context'>

export interface ErrorWithRequests {
  id: number
  is_new: boolean
  events: readonly RequestEvent[]
}

/** Makes the URLs and tags of new occurrences searchable, each once per error. */
export async function addRequestTexts(
  trx: Transaction<Schema>,
  dialect: Dialect,
  errors: readonly ErrorWithRequests[],
): Promise<void> {
  const cache = storedCache(dialect).requests
  const unknown = errors.filter((error) => {
    const { urls, tags } = newValues(error, cache.get(error.id))
    return urls.length + tags.length > 0
  })
  if (unknown.length === 0) return
  const repeated = unknown.filter(({ is_new }) => !is_new).map(({ id }) => id)
  const stored = await readStoredValues(trx, repeated)
  // Only values of earlier transactions, because this one may be rolled back.
  for (const [id, values] of stored) cache.set(id, values)
  const added = unknown.map((error) => ({ error_id: error.id, ...newValues(error, stored.get(error.id)) }))
  const texts = added.flatMap((values) => textRows(values, stored.get(values.error_id)))
  if (texts.length > 0) await dialect.insertMany(trx, REQUEST_TEXTS, texts)
  const tags = added.flatMap(({ error_id, tags }) => tags.map(({ key, value }) => [error_id, key, value]))
  if (tags.length > 0) await dialect.insertMany(trx, ERROR_TAGS, tags)
}

/** Values of the newest events that are not stored, up to the limits. */
function newValues({ events }: ErrorWithRequests, stored: RequestValues = noValues()): { urls: string[]; tags: Tag[] } {
  const urls = new Set<string>()
  const tags = new Map<string, Set<string>>()
  for (const { request_url, context } of events.slice(-MAX_EXAMINED_EVENTS)) {
    const url = request_url && pathPattern(request_url).toLowerCase()
    if (url && !stored.urls.has(url) && stored.urls.size + urls.size < MAX_TEXTS) urls.add(url)
    for (const { key, value } of readTags(context.tags)) {
      const known = stored.tags.get(key)
      if (known?.has(value) || known?.has(MORE_VALUES)) continue
      if (!known && !tags.has(key) && stored.tags.size + tags.size >= MAX_TAG_KEYS) {
        if (!stored.tags.has(OMITTED_KEYS)) tags.set(OMITTED_KEYS, new Set([MORE_VALUES]))
        continue
      }
      const values = tags.get(key) ?? new Set()
      const isFull = !values.has(value) && (known?.size ?? 0) + values.size >= MAX_TAG_VALUES
      tags.set(key, values.add(isFull ? MORE_VALUES : value))
    }
  }
  return { urls: [...urls], tags: [...tags].flatMap(([key, values]) => [...values].map((value) => ({ key, value }))) }
}

function noValues(): RequestValues {
  return { urls: new Set(), tags: new Map() }
}

/** One text per URL, and one text with the first tags. */
function textRows(
  { error_id, urls, tags }: { error_id: number; urls: string[]; tags: Tag[] },
  stored: RequestValues = noValues(),
): (string | number)[][] {
  const storedTags = [...stored.tags.values()].reduce((sum, values) => sum + values.size, 0)
  const searchable = tags.filter(({ value }) => value !== MORE_VALUES).slice(0, Math.max(0, MAX_TEXTS - storedTags))
  const texts = [
    ...urls.map((url) => ['url', url] as const),
    ...(searchable.length > 0
      ? [['tag', searchable.map(({ key, value }) => `${key}=${value}`).join('\n')] as const]
      : []),
  ]
  return texts.map(([kind, text]) => [error_id, kind, hash('sha256', `${kind}\n${text}`), text])
}

async function readStoredValues(
  trx: Transaction<Schema>,
  error_ids: readonly number[],
): Promise<Map<number, RequestValues>> {
  const values = new Map(error_ids.map((id) => [id, noValues()]))
  if (error_ids.length === 0) return values
  const ids = sql.join([...error_ids])
  const { rows: urls } = await sql<{ error_id: number; search_text: string }>`
    select error_id, search_text from faultboard_search_history
    where error_id in (${ids}) and kind = 'url'`.execute(trx)
  for (const { error_id, search_text } of urls) values.get(error_id)?.urls.add(search_text)
  const { rows: tags } = await sql<{ error_id: number; tag_key: string; tag_value: string }>`
    select error_id, tag_key, tag_value from faultboard_error_tags where error_id in (${ids})`.execute(trx)
  for (const { error_id, tag_key, tag_value } of tags) {
    const known = values.get(error_id)?.tags
    known?.set(tag_key, (known.get(tag_key) ?? new Set()).add(tag_value))
  }
  return values
}

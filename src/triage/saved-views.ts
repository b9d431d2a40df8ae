import * as v from 'valibot'
import { TrackerError } from '../model/errors.js'
import { id, optionalText, parseInput, requiredText } from '../model/input/input.js'
import { defineCommand, defineOperation } from '../operation.js'
import type { BulkTarget } from '../store/dialect.js'
import type { Selectable } from '../store/kysely.js'
import type { SavedViewsTable } from '../store/schema.js'
import { byteOrder } from '../store/sql/sort-order.js'
import { DEFAULT_ACTOR, MAX_NAME_LENGTH } from './commands/change-errors.js'
import { type ErrorsFilter, errorsListInput } from './list/errors-filter.js'
import { tagLines } from './list/tag-conditions.js'

/** Named query of the error list, shared by all users. */
export interface SavedView {
  id: number
  name: string
  /** Query string of the list without the question mark. */
  query: string
  created_by: string
  created_at: string
}

const MAX_SAVED_VIEWS = 100
const MAX_QUERY_LENGTH = 2000

export const listSavedViews = defineOperation({
  input: v.object({}),
  async run({ database }): Promise<SavedView[]> {
    const rows = await database.read
      .selectFrom('faultboard_saved_views')
      .selectAll()
      .orderBy(byteOrder(database.dialect, 'name'))
      .execute()
    return rows.map(toSavedView)
  },
})

/** Saves a query of the list. Replaces a view with the same name. */
export const saveView = defineCommand({
  input: v.object({
    name: requiredText({ max: MAX_NAME_LENGTH }),
    query: v.string('must be a string'),
    created_by: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run({ database, now }, { name, query, created_by = DEFAULT_ACTOR }): Promise<SavedView> {
    const row = { name, query: validateQuery(query), created_by, created_at: now() }
    return database.write(async (trx) => {
      const otherViews = await trx.selectFrom('faultboard_saved_views').select('id').where('name', '!=', name).execute()
      if (otherViews.length >= MAX_SAVED_VIEWS) {
        const message = `At most ${MAX_SAVED_VIEWS} views can be saved. Delete one first.`
        throw new TrackerError('invalid_input', message)
      }
      // If the name was inserted concurrently, the insert is skipped and the row is updated.
      await database.dialect.insertMany(trx, SAVED_VIEWS_TARGET, [
        [row.name, row.query, row.created_by, row.created_at],
      ])
      await trx.updateTable('faultboard_saved_views').set(row).where('name', '=', name).execute()
      const saved = trx.selectFrom('faultboard_saved_views').selectAll().where('name', '=', name)
      return toSavedView(await saved.executeTakeFirstOrThrow())
    })
  },
  audit: (_input, { name }) => ({ action: 'save_view', target: name }),
})

export const deleteView = defineCommand({
  input: v.object({ view_id: id() }),
  async run({ database }, { view_id }): Promise<{ name: string }> {
    return database.write(async (trx) => {
      const view = await trx
        .selectFrom('faultboard_saved_views')
        .select('name')
        .where('id', '=', view_id)
        .executeTakeFirst()
      const deleted = await trx.deleteFrom('faultboard_saved_views').where('id', '=', view_id).executeTakeFirst()
      if (!view || deleted.numDeletedRows === 0n) {
        throw new TrackerError('not_found', `Saved view ${view_id} not found. It may have been deleted.`)
      }
      return view
    })
  },
  audit: (_input, { name }) => ({ action: 'delete_view', target: name }),
})

/**
 * Keeps the filters of the list in a fixed order, without empty values and the page.
 *
 * @example
 * listQuery('?search=cart&page=3&severity=&utm_source=mail') // 'search=cart'
 */
export function listQuery(query: string): string {
  const params = new URLSearchParams(query)
  const kept = new URLSearchParams()
  for (const name of Object.keys(errorsListInput.entries)) {
    // Only `tag` can be repeated.
    const value = (name === 'tag' ? tagLines(params.getAll(name).join('\n')).join('\n') : params.get(name))?.trim()
    if (value && name !== 'page') kept.set(name, value)
  }
  return kept.toString()
}

/** Parses the filter from a query string of the list. */
export function parseListQuery(query: string): ErrorsFilter {
  return parseInput(errorsListInput, Object.fromEntries(new URLSearchParams(listQuery(query))))
}

function validateQuery(query: string): string {
  const normalized = listQuery(query)
  if (normalized.length > MAX_QUERY_LENGTH) {
    throw new TrackerError('invalid_input', `query must not be longer than ${MAX_QUERY_LENGTH} characters`)
  }
  parseListQuery(normalized)
  return normalized
}

const SAVED_VIEWS_TARGET: BulkTarget = {
  table: 'faultboard_saved_views',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'query', type: 'text' },
    { name: 'created_by', type: 'text' },
    { name: 'created_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [] },
}

function toSavedView({ created_at, ...row }: Selectable<SavedViewsTable>): SavedView {
  return { ...row, created_at: new Date(created_at).toISOString() }
}

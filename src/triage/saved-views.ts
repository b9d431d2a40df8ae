import * as v from 'valibot'
import { TrackerError } from '../model/errors.js'
import { id, optionalText, parseInput, requiredText } from '../model/input.js'
import { defineOperation } from '../operation.js'
import type { BulkTarget } from '../store/dialect.js'
import type { Selectable } from '../store/kysely.js'
import type { SavedViewsTable } from '../store/schema.js'
import { letterOrder } from '../store/sort-order.js'
import { NAME_LIMIT, NOBODY_NAMED } from './commands/change-errors.js'
import { errorsListInput } from './list/errors-filter.js'

/** A query of the list under a name, for everybody. */
export interface SavedView {
  id: number
  name: string
  /** As in the address of the list, without its question mark. */
  query: string
  created_by: string
  created_at: string
}

const MOST_VIEWS = 100
const QUERY_LIMIT = 2000

export const listSavedViews = defineOperation({
  input: v.object({}),
  async run({ database }): Promise<SavedView[]> {
    const rows = await database.read
      .selectFrom('faultboard_saved_views')
      .selectAll()
      .orderBy(letterOrder(database.dialect, 'name'))
      .execute()
    return rows.map(viewOf)
  },
})

/** Keeps a query of the list; one of the same name is replaced. */
export const saveView = defineOperation({
  input: v.object({
    name: requiredText({ max: NAME_LIMIT }),
    query: v.string('must be text'),
    created_by: optionalText({ max: NAME_LIMIT }),
  }),
  async run({ database, now }, { name, query, created_by = NOBODY_NAMED }): Promise<SavedView> {
    const row = { name, query: checkedQuery(query), created_by, created_at: now() }
    return database.write(async (trx) => {
      const others = await trx.selectFrom('faultboard_saved_views').select('id').where('name', '!=', name).execute()
      if (others.length >= MOST_VIEWS) {
        const sentence = `There are ${MOST_VIEWS} saved views already; delete one that nobody needs first.`
        throw new TrackerError('invalid_input', sentence)
      }
      // Two people may choose the same name at the same time: what was inserted first is then changed.
      await database.dialect.insertMany(trx, VIEWS, [[row.name, row.query, row.created_by, row.created_at]])
      await trx.updateTable('faultboard_saved_views').set(row).where('name', '=', name).execute()
      const saved = trx.selectFrom('faultboard_saved_views').selectAll().where('name', '=', name)
      return viewOf(await saved.executeTakeFirstOrThrow())
    })
  },
})

export const deleteView = defineOperation({
  input: v.object({ view_id: id() }),
  async run({ database }, { view_id }): Promise<void> {
    const deleted = await database.write((trx) =>
      trx.deleteFrom('faultboard_saved_views').where('id', '=', view_id).executeTakeFirst(),
    )
    if (deleted.numDeletedRows === 0n) {
      throw new TrackerError('not_found', `There is no saved view with the id ${view_id}; it may have been deleted.`)
    }
  },
})

/**
 * The part of a query string that is the list's: its filters in one order, without empty ones and without the page.
 *
 * @example
 * listQuery('?search=cart&page=3&severity=&utm_source=mail') // 'search=cart'
 */
export function listQuery(query: string): string {
  const given = new URLSearchParams(query)
  const kept = new URLSearchParams()
  for (const name of Object.keys(errorsListInput.entries)) {
    const value = given.get(name)?.trim()
    if (value && name !== 'page') kept.set(name, value)
  }
  return kept.toString()
}

function checkedQuery(query: string): string {
  const known = listQuery(query)
  if (known.length > QUERY_LIMIT) {
    throw new TrackerError('invalid_input', `query must not be longer than ${QUERY_LIMIT} characters`)
  }
  parseInput(errorsListInput, Object.fromEntries(new URLSearchParams(known)))
  return known
}

const VIEWS: BulkTarget = {
  table: 'faultboard_saved_views',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'query', type: 'text' },
    { name: 'created_by', type: 'text' },
    { name: 'created_at', type: 'integer' },
  ],
  on_conflict: { key: ['name'], update: [] },
}

function viewOf({ created_at, ...row }: Selectable<SavedViewsTable>): SavedView {
  return { ...row, created_at: new Date(created_at).toISOString() }
}

import * as v from 'valibot'
import { optionalText } from '../../model/input.js'
import { deleteView, listQuery, saveView } from '../../triage/saved-views.js'
import { type Action, defineAction } from '../define.js'

const list_query = optionalText({ max: 20_000 })

/** Lists with a name: each address leads back to the list it was asked from. */
export const savedViewActions: readonly Action[] = [
  defineAction({
    path: '/saved_views',
    text: 'Save a list with its filters under a name; one of the same name is replaced',
    parameters: v.object({ name: saveView.input.entries.name, list_query }),
    async run(context, { name, list_query = '' }, actor) {
      const view = await saveView.run(context, { name, query: list_query, created_by: actor })
      return { to: listAt(view.query), notice: `Saved as ${view.name}.` }
    },
  }),
  defineAction({
    path: '/saved_views/:view_id{[0-9]+}/delete',
    text: 'Delete a saved view',
    parameters: v.object({ view_id: deleteView.input.entries.view_id, list_query }),
    async run(context, { view_id, list_query = '' }) {
      await deleteView.run(context, { view_id })
      return { to: listAt(listQuery(list_query)), notice: 'View deleted.' }
    },
  }),
]

function listAt(query: string): string {
  return query ? `/errors?${query}` : '/errors'
}

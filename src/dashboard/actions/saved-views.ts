import * as v from 'valibot'
import { optionalText } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { deleteView, listQuery, saveView } from '../../triage/saved-views.js'
import { type Action, defineAction } from '../define.js'

const list_query = optionalText({ max: 20_000 })

/** Actions on saved views. Each redirects to the list. */
export const savedViewActions: readonly Action[] = [
  defineAction({
    path: '/saved_views',
    text: 'Save the filters of a list under a name, replacing a view with the same name',
    role: 'responder',
    parameters: v.object({ name: saveView.input.entries.name, list_query }),
    response: r.object({ id: r.integer, name: r.text, query: r.text, created_by: r.text, created_at: r.time }),
    async run(context, { name, list_query = '' }, actor) {
      const view = await saveView.run(context, { name, query: list_query, created_by: actor })
      return { json: () => view, to: listPath(view.query), notice: `Saved as ${view.name}.` }
    },
  }),
  defineAction({
    path: '/saved_views/:view_id{[0-9]+}/delete',
    text: 'Delete a saved view',
    role: 'responder',
    parameters: v.object({ view_id: deleteView.input.entries.view_id, list_query }),
    response: r.object({ deleted: r.integer }),
    async run(context, { view_id, list_query = '' }) {
      await deleteView.run(context, { view_id })
      return { json: () => ({ deleted: 1 }), to: listPath(listQuery(list_query)), notice: 'View deleted.' }
    },
  }),
]

function listPath(query: string): string {
  return query ? `/errors?${query}` : '/errors'
}

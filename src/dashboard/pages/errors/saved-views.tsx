import { NAME_LIMIT } from '../../../triage/commands/change-errors.js'
import type { SavedView } from '../../../triage/saved-views.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { TextField } from '../../ui/forms.js'
import { Menu } from '../../ui/menu.js'

/** Lists somebody gave a name to: go there, keep this one, let one go. */
export function SavedViews({
  views,
  list_query,
  visit,
}: {
  views: readonly SavedView[]
  /** The filters of the list that is shown, as a view would keep them. */
  list_query: string
  visit: Visit
}): Rendered {
  // A view of all applications is shown in the one that is looked at.
  const listAt = (query: string) => href(visit, '/errors', Object.fromEntries(new URLSearchParams(query)))
  const current = views.find(({ query }) => listAt(query) === listAt(list_query))
  return (
    <div class="views">
      <Menu label={current ? <bdi>{current.name}</bdi> : 'Views'}>
        {views.length > 0 && (
          <ul class="view-list">
            {views.map(({ id, name, query }) => (
              <li>
                <a href={listAt(query)} aria-current={id === current?.id ? 'true' : undefined}>
                  <bdi>{name}</bdi>
                </a>
                <form method="post" action={`${visit.base}/saved_views/${id}/delete`}>
                  <input type="hidden" name="list_query" value={list_query} />
                  <button type="submit" class="quiet" aria-label={`Delete the view ${name}`}>
                    <span class="cross" aria-hidden="true" />
                  </button>
                </form>
              </li>
            ))}
          </ul>
        )}
        <form class="save-view" method="post" action={`${visit.base}/saved_views`}>
          <input type="hidden" name="list_query" value={list_query} />
          <TextField name="name" label="Save this view as" value={current?.name} required maxlength={NAME_LIMIT} />
          <button type="submit">Save this view</button>
        </form>
      </Menu>
    </div>
  )
}

import { MAX_NAME_LENGTH } from '../../../triage/commands/change-errors.js'
import type { SavedView } from '../../../triage/saved-views.js'
import { allows } from '../../access.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { TextField } from '../../ui/forms.js'
import { Menu } from '../../ui/menu.js'

/** Menu of saved views: open, save and delete. */
export function SavedViews({
  views,
  list_query,
  visit,
}: {
  views: readonly SavedView[]
  /** Filters of the current list. */
  list_query: string
  visit: Visit
}): Rendered {
  // A view without an application opens in the selected application.
  const viewLink = (query: string) => href(visit, '/errors', Object.fromEntries(new URLSearchParams(query)))
  const current = views.find(({ query }) => viewLink(query) === viewLink(list_query))
  const canChange = allows(visit, 'responder')
  if (!canChange && views.length === 0) return null
  return (
    <div class="views">
      <Menu label={current ? <bdi>{current.name}</bdi> : 'Views'}>
        {views.length > 0 && (
          <ul class="view-list">
            {views.map(({ id, name, query }) => (
              <li>
                <a href={viewLink(query)} aria-current={id === current?.id ? 'true' : undefined}>
                  <bdi>{name}</bdi>
                </a>
                {canChange && (
                  <form method="post" action={`${visit.base}/saved_views/${id}/delete`}>
                    <input type="hidden" name="list_query" value={list_query} />
                    <button type="submit" class="quiet" aria-label={`Delete view ${name}`}>
                      <span class="cross" aria-hidden="true" />
                    </button>
                  </form>
                )}
              </li>
            ))}
          </ul>
        )}
        {canChange && (
          <form method="post" action={`${visit.base}/saved_views`}>
            <input type="hidden" name="list_query" value={list_query} />
            <TextField name="name" label="Name" value={current?.name} required maxlength={MAX_NAME_LENGTH} />
            <button type="submit">Save view</button>
          </form>
        )}
      </Menu>
    </div>
  )
}

import { MAX_QUERY_LENGTH, QUERY_KEYS, QUERY_VALUES } from '../../../model/search-query.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { FilterChoices } from '../../../triage/list/filter-choices.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Menu } from '../../ui/menu.js'

/** Keys of the query with the values that the script suggests. */
function suggestions(
  { platforms, app_versions, users, environments, assignees }: FilterChoices,
  types: readonly string[],
  { applications }: Visit,
): Record<string, readonly string[]> {
  return {
    ...Object.fromEntries(QUERY_KEYS.map((key) => [key, QUERY_VALUES[key] ?? []])),
    user: users,
    release: app_versions,
    platform: platforms,
    environment: environments,
    type: types,
    assigned: ['me', ...assignees],
    app: applications.map(({ name }) => name),
  }
}

/** Search box with help. Without JavaScript, the field has no suggestions. */
export function SearchBox({
  filter,
  choices,
  types,
  problem,
  visit,
}: {
  filter: ErrorsFilter
  choices: FilterChoices
  /** Types of the listed errors. */
  types: readonly string[]
  /** Problem of a malformed query. */
  problem?: string | undefined
  visit: Visit
}): Rendered {
  return (
    <div class="search">
      <label>
        <span class="hidden">Search</span>
        <input
          id="search"
          name="query"
          type="search"
          value={filter.query}
          placeholder="Search errors"
          maxlength={MAX_QUERY_LENGTH}
          aria-invalid={problem ? 'true' : undefined}
          aria-describedby={problem ? 'search-problem' : undefined}
          data-tags={href(visit, '/errors/tags.json')}
          data-suggestions={JSON.stringify(suggestions(choices, [...new Set(types)], visit))}
        />
      </label>
      {/* Keeps the older `search` parameter of a link. Its chip removes the parameter. */}
      {filter.search !== undefined && <input type="hidden" name="search" value={filter.search} />}
      <Menu label={<HelpLabel />}>
        <dl class="search-help">
          {HELP.map(([term, text]) => (
            <div>
              <dt>
                <code>{term}</code>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      </Menu>
      {problem && (
        <p id="search-problem" class="search-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function HelpLabel() {
  return (
    <>
      <span aria-hidden="true">?</span>
      <span class="hidden">How to search</span>
    </>
  )
}

const HELP: readonly (readonly [term: string, text: string])[] = [
  ['card declined', 'All words, anywhere in type, message, stack trace, URL or tags'],
  ['"not found"', 'This phrase'],
  ['-timeout', 'Not this word, phrase or key'],
  ['user:42', 'Affected this user'],
  ['release:5.12', 'Occurred in 5.12 or 5.12.x'],
  ['platform:ios', 'Occurred on this platform'],
  ['environment:staging', 'Occurred in this environment'],
  ['url:/checkout', 'Occurred on this path'],
  ['type:Payment*', 'Types that start with Payment'],
  ['tag:city=Berlin', 'Has this tag'],
  ['is:unresolved', 'In this state'],
  ['severity:high', 'Has this severity; also priority:'],
  ['assigned:me', 'Assigned to me, or to this name'],
  ['app:shop', 'In this application'],
]

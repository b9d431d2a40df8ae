import {
  type IsValue,
  MAX_QUERY_LENGTH,
  QUERY_KEYS,
  QUERY_VALUES,
  type QueryError,
  type QueryKey,
} from '../../../model/search-query.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { FilterChoices } from '../../../triage/list/filter-choices.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { listLink } from '../../links/list-link.js'
import { Menu } from '../../ui/menu.js'

/** Key of the query as `assets/js/search.js` suggests it. */
interface KeySuggestion {
  text: string
  example: string
  values: readonly string[]
  /** Meanings of values. */
  notes?: Readonly<Record<string, string>>
}

function suggestions(
  { platforms, app_versions, users, environments, assignees }: FilterChoices,
  types: readonly string[],
  { applications }: Visit,
): Record<string, KeySuggestion> {
  const values: Partial<Record<QueryKey, readonly string[]>> = {
    ...QUERY_VALUES,
    user: users,
    release: app_versions,
    platform: platforms,
    environment: environments,
    type: types,
    assigned: ['me', ...assignees],
    app: applications.map(({ name }) => name),
  }
  return Object.fromEntries(
    QUERY_KEYS.map((key) => {
      const [example, text] = KEY_HELP[key]
      return [key, { text, example, values: values[key] ?? [], ...(key === 'is' && { notes: STATE_HELP }) }]
    }),
  )
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
  problem?: QueryError | undefined
  visit: Visit
}): Rendered {
  return (
    <div class="search">
      <div class="search-field">
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
            data-problem-position={problem?.position}
            data-tags={href(visit, '/errors/tags.json')}
            data-suggestions={JSON.stringify(suggestions(choices, [...new Set(types)], visit))}
          />
        </label>
        {filter.query && (
          <a class="search-clear" href={listLink(visit, filter, { query: null })} title="Clear search">
            <span class="cross" aria-hidden="true" />
            <span class="hidden">Clear search</span>
          </a>
        )}
      </div>
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
          {/* Replaces the parameter name at the start of the message, which is meant for users of the API. */}
          {problem.message.replace(/^query/, 'Your search')}
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

type Help = readonly [term: string, text: string]

const KEY_HELP: Record<QueryKey, Help> = {
  is: ['is:unresolved', 'In this state'],
  user: ['user:42', 'Affected this user'],
  release: ['release:5.12', 'Occurred in 5.12 or 5.12.x'],
  platform: ['platform:ios', 'Occurred on this platform'],
  environment: ['environment:staging', 'Occurred in this environment'],
  url: ['url:/checkout', 'Occurred on this path'],
  type: ['type:Payment*', 'Of this type'],
  tag: ['tag:city=Berlin', 'Has this tag'],
  severity: ['severity:high', 'Has this severity'],
  priority: ['priority:high', 'Has this priority'],
  assigned: ['assigned:me', 'Assigned to me, or to this name'],
  app: ['app:shop', 'In this application'],
}

const STATE_HELP: Record<IsValue, string> = {
  unresolved: 'New, investigating or in progress',
  resolved: "Resolved or won't fix",
  new: 'Not triaged yet',
  investigating: 'Status investigating',
  in_progress: 'Status in progress',
  wont_fix: 'Closed permanently',
  snoozed: 'Open, hidden until the snooze ends',
  muted: 'Sends no notifications',
  assigned: 'Has an assignee',
  unassigned: 'Has no assignee',
  regressed: 'Occurred again after it was resolved',
}

const HELP: readonly Help[] = [
  ['card declined', 'All words, anywhere in type, message, stack trace, URL or tags'],
  ['"not found"', 'This phrase'],
  ['-timeout', 'Not this word, phrase or operator'],
  ...QUERY_KEYS.map((key) => KEY_HELP[key]),
]

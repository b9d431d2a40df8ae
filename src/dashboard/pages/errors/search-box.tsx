import {
  IS_VALUES,
  type IsValue,
  MAX_QUERY_LENGTH,
  QUERY_KEYS,
  QUERY_VALUES,
  type QueryError,
  type QueryKey,
} from '../../../model/search-query.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { FilterChoices, RecentValue } from '../../../triage/list/filter-choices.js'
import type { Rendered, Visit } from '../../define.js'
import { docsLink } from '../../links/docs-link.js'
import { href } from '../../links/href.js'
import { listLink } from '../../links/list-link.js'
import { Menu } from '../../ui/menu.js'

/** Operator as `assets/js/search.js` suggests it. */
interface Suggestion {
  text: string
  example: string
  /** Values with an explanation. */
  values: readonly SuggestedValue[]
}

type SuggestedValue = readonly [value: string, text?: string]

function suggestions(choices: FilterChoices, types: readonly RecentValue[], visit: Visit): Record<string, Suggestion> {
  const withApplications = (values: readonly RecentValue[]) =>
    values.map(({ value, application_ids }) => suggestedValue(value, applicationNames(application_ids, visit)))
  const values: Partial<Record<QueryKey, readonly SuggestedValue[]>> = {
    is: IS_VALUES.map((state) => [state, STATE_HELP[state]]),
    user: choices.users.map(({ value, errors }) => [
      value,
      errors === 1 ? '1 recent error' : `${errors} recent errors`,
    ]),
    release: withApplications(choices.app_versions),
    platform: withApplications(choices.platforms),
    environment: choices.environments.map((name) => [name]),
    type: withApplications(types),
    assigned: [['me', visit.user], ...choices.assignees.map((name) => [name] as const)],
    app: visit.applications.map(({ name }) => [name]),
  }
  return Object.fromEntries(
    QUERY_KEYS.map((key) => {
      const [example, text] = KEY_HELP[key]
      return [key, { text, example, values: values[key] ?? QUERY_VALUES[key]?.map((value) => [value]) ?? [] }]
    }),
  )
}

function suggestedValue(value: string, text: string): SuggestedValue {
  return text ? [value, text] : [value]
}

/** A longer list would hide the value. */
const MAX_NAMED_APPLICATIONS = 3

/** Names of applications. Empty if the page shows a single application. */
function applicationNames(ids: readonly number[], { applications, application_id }: Visit): string {
  if (applications.length < 2 || application_id !== null) return ''
  const names = applications.filter(({ id }) => ids.includes(id)).map(({ name }) => name)
  const others = names.length - MAX_NAMED_APPLICATIONS
  return others > 0 ? `${names.slice(0, MAX_NAMED_APPLICATIONS).join(', ')} and ${others} more` : names.join(', ')
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
  types: readonly RecentValue[]
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
            placeholder="Search text, user:, release:, is:…"
            maxlength={MAX_QUERY_LENGTH}
            aria-invalid={problem ? 'true' : undefined}
            aria-describedby={problem ? 'search-problem' : undefined}
            data-problem-position={problem?.position}
            data-tags={href(visit, '/errors/tags.json')}
            data-suggestions={JSON.stringify(suggestions(choices, types, visit))}
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
        <p class="search-docs">
          <a href={docsLink('search')}>Full search syntax</a>
        </p>
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

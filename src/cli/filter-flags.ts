import * as v from 'valibot'
import { type ErrorsListInput, errorsListInput, UNASSIGNED } from '../triage/list/errors-list.js'
import type { Flag } from './command.js'

/** What a name and its rule do not tell by themselves. */
const MORE: { readonly [Field in keyof ErrorsListInput]?: string } = {
  page: 'Which page',
  per_page: 'Errors on a page',
  day: 'Only errors that occurred on this day',
  priority_level: 'Only errors of this priority',
  application_id: 'Only errors of this application',
  assigned_to: `Only errors assigned to this person, or ${UNASSIGNED}`,
  unresolved: 'Leave out errors that are resolved',
  hide_snoozed: 'Leave out errors that are snoozed',
  search: 'Only errors with this text in message or backtrace, in any letter case',
  user_id: 'Only errors that this user met',
}

/** The filters of the errors list as flags: the schema that checks them also says what they take. */
export const FILTER_FLAGS: Record<string, Flag> = Object.fromEntries(
  Object.entries(errorsListInput.entries).map(([name, schema]) => [flagName(name), flagOf(name, schema)]),
)

/** The same rules under the names of the flags, so that a sentence about a wrong value names what was typed. */
export const FILTER_SCHEMA = v.object(
  Object.fromEntries(Object.entries(errorsListInput.entries).map(([name, schema]) => [`--${flagName(name)}`, schema])),
)

/** What the list is asked for. A switch that was not given says nothing. */
export function filterFrom(flags: Readonly<Record<string, string | boolean | undefined>>): ErrorsListInput {
  return Object.fromEntries(
    Object.keys(errorsListInput.entries)
      .map((name) => [name, flags[flagName(name)]])
      .filter(([, value]) => value !== undefined && value !== false),
  )
}

function flagName(field: string): string {
  return field.replaceAll('_', '-')
}

function flagOf(field: string, schema: v.GenericSchema): Flag {
  const more = MORE[field as keyof ErrorsListInput]
  if (v.is(schema, true)) return { text: more ?? `Only errors that are ${words(field)}` }
  const refused = v.safeParse(schema, 'no such word').issues?.[0]
  const [, list, what] = /^must be (one of )?(.*)$/.exec(refused ? lastWords(refused) : '') ?? []
  if (what === undefined) return { value: 'TEXT', text: more ?? `Only errors with this ${words(field)}` }
  return { value: list ? 'WORD' : 'N', text: list ? `One of ${what}` : `${more ?? words(field)}, ${what}` }
}

/** A union's own issue says only that nothing fitted; its last branch says what would have. */
function lastWords(issue: v.BaseIssue<unknown>): string {
  const inner = issue.issues?.at(-1)
  return inner ? lastWords(inner) : issue.message
}

function words(field: string): string {
  return field.replaceAll('_', ' ')
}

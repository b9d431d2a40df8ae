import * as v from 'valibot'
import { type ErrorsListInput, errorsListInput, UNASSIGNED } from '../triage/list/errors-list.js'
import type { Flag } from './command.js'

/** Descriptions of filters that are not obvious from their name and schema. */
const DESCRIPTIONS: { readonly [Field in keyof ErrorsListInput]?: string } = {
  page: 'Page number',
  per_page: 'Errors per page',
  day: 'Only errors that occurred on this day',
  priority_level: 'Only errors with this priority',
  application_id: 'Only errors in this application',
  environment: 'Only errors in this environment',
  assigned_to: `Only errors assigned to this person, or ${UNASSIGNED}`,
  unresolved: 'Exclude resolved errors',
  hide_snoozed: 'Exclude snoozed errors',
  snoozed: 'Only open errors that are snoozed',
  regressed: 'Only open errors that occurred again after they were resolved',
  platform: 'Only errors with at least one occurrence on this platform',
  error_type: 'Only errors of this type',
  app_version: 'Only errors with at least one occurrence in this version',
  git_sha: 'Only errors with at least one occurrence in this commit',
  tag: 'Only errors with this tag, such as city:Berlin',
  search: 'Only errors with this text in the message or backtrace, ignoring case',
  query: 'Only errors that match a query such as \'is:unresolved user:42 -timeout "not found"\'',
  user_id: 'Only errors that affect this user',
}

/** Filters of the error list as flags. Their schema provides the validation and the description. */
export const FILTER_FLAGS: Record<string, Flag> = Object.fromEntries(
  Object.entries(errorsListInput.entries).map(([name, schema]) => [flagName(name), describeFlag(name, schema)]),
)

/** Schemas keyed by the flags, so that error messages show the names that the user typed. */
export const FILTER_SCHEMA = v.object(
  Object.fromEntries(Object.entries(errorsListInput.entries).map(([name, schema]) => [`--${flagName(name)}`, schema])),
)

/** Input of the error list. A switch that is not set is omitted. */
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

function describeFlag(field: string, schema: v.GenericSchema): Flag {
  const description = DESCRIPTIONS[field as keyof ErrorsListInput]
  if (v.is(schema, true)) return { text: description ?? `Only errors that are ${fieldWords(field)}` }
  const issue = v.safeParse(schema, 'invalid value').issues?.[0]
  const [, list, allowed] = /^must be (one of )?(.*)$/.exec(issue ? lastMessage(issue) : '') ?? []
  if (v.is(schema, ['text'])) return { value: 'TEXT', text: `${description}; can be repeated`, isRepeatable: true }
  if (allowed === undefined) return { value: 'TEXT', text: description ?? `Only errors with this ${fieldWords(field)}` }
  if (list) return { value: 'WORD', text: `One of ${allowed}`, allowed: allowed.split(', ') }
  return { value: field === 'day' ? 'DATE' : 'N', text: `${description ?? fieldWords(field)}, ${allowed}` }
}

/** A union only reports that nothing matched. The message of its last branch lists the allowed values. */
function lastMessage(issue: v.BaseIssue<unknown>): string {
  const inner = issue.issues?.at(-1)
  return inner ? lastMessage(inner) : issue.message
}

function fieldWords(field: string): string {
  return field.replaceAll('_', ' ')
}

import * as v from 'valibot'
import { choice, filterText, optional } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { defineAction } from '../define.js'
import { isPlainPath } from '../http/plain-path.js'
import { THEMES, TIME_CHOICES } from '../preferences.js'

/** The schema truncates longer values. */
const MAX_RETURN_LENGTH = 20_000

/** Stores a display preference in a cookie and redirects to the current page. */
export const setPreference = defineAction({
  path: '/preferences',
  text: 'Store the theme, the time zone of exact times or the state of the sidebar in a cookie',
  role: 'viewer',
  parameters: v.object({
    theme: optional(choice(THEMES)),
    times: optional(choice(TIME_CHOICES)),
    rail: optional(choice(['open', 'folded'])),
    return_to: filterText({ max: MAX_RETURN_LENGTH }),
  }),
  response: r.map(r.text),
  async run(_context, { theme, times, rail, return_to = '/overview' }) {
    const preferences: Record<string, string> = {
      ...(theme && { theme }),
      ...(times && { times }),
      ...(rail && { rail }),
    }
    return { json: () => preferences, to: safeReturnPath(return_to), notice: null, preferences }
  },
})

function safeReturnPath(return_to: string): string {
  const [path = '', ...queries] = return_to.split('?')
  if (!isPlainPath(path)) return '/overview'
  // Drops a truncated query, because a partial filter would select other errors.
  const query = return_to.length < MAX_RETURN_LENGTH ? queries.join('?') : ''
  return query ? `${path}?${new URLSearchParams(query)}` : path
}

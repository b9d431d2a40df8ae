import * as v from 'valibot'
import { choice, filterText, optional } from '../../model/input.js'
import { defineAction } from '../define.js'
import { isPlainPath } from '../plain-path.js'
import { THEMES } from '../preferences.js'

const RETURN_LIMIT = 20_000

/** Remembers how a visitor likes the pages, in a cookie of that browser, and leads back to where it was asked. */
export const setPreference = defineAction({
  path: '/preferences',
  text: 'Remember the colours, or whether the rail is folded, in a cookie of this browser',
  parameters: v.object({
    theme: optional(choice(THEMES)),
    rail: optional(choice(['open', 'folded'])),
    return_to: filterText({ max: RETURN_LIMIT }),
  }),
  async run(_context, { theme, rail, return_to = '/overview' }) {
    return {
      to: pathBack(return_to),
      notice: null,
      remember: { ...(theme && { theme }), ...(rail && { rail }) },
    }
  },
})

function pathBack(return_to: string): string {
  const [path = '', ...queries] = return_to.split('?')
  if (!isPlainPath(path)) return '/overview'
  // What is as long as may be was cut, and half a filter is another one.
  const query = return_to.length < RETURN_LIMIT ? queries.join('?') : ''
  return query ? `${path}?${new URLSearchParams(query)}` : path
}

import * as v from 'valibot'
import { choice, optional, optionalText } from '../../model/input.js'
import { defineAction } from '../define.js'
import { isPlainPath } from '../plain-path.js'
import { THEMES } from '../preferences.js'

/** Remembers how a visitor likes the pages, in a cookie of that browser, and leads back to where it was asked. */
export const setPreference = defineAction({
  path: '/preferences',
  text: 'Remember the colours, or whether the rail is folded, in a cookie of this browser',
  parameters: v.object({
    theme: optional(choice(THEMES)),
    rail: optional(choice(['open', 'folded'])),
    return_to: optionalText({ max: 2000 }),
  }),
  async run(_context, { theme, rail, return_to = '/overview' }) {
    const [path = '', query] = return_to.split('?', 2)
    return {
      to: isPlainPath(path) ? (query ? `${path}?${new URLSearchParams(query)}` : path) : '/overview',
      notice: null,
      remember: { ...(theme && { theme }), ...(rail && { rail }) },
    }
  },
})

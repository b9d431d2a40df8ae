import { withoutQueries } from '../address.js'
import type { Details } from '../client.js'

/** As much as a tag holds. */
const LONGEST = 200

/**
 * The components an error came through, the innermost first: their names as `component`, the whole stack in the context.
 * Elements of the page are left out: they have a small letter and no place in a file.
 */
export function fromReact({ componentStack }: { componentStack?: string | null | undefined }): Details {
  if (!componentStack) return {}
  const names = componentStack
    .split('\n')
    .filter((line) => /^\s*(at )?[A-Z]|:[1-9]\d*\)?$/.test(line))
    .map((line) => line.replace(/^\s*(at )?/, '').replace(/[\s@(].*/, ''))
  const context = { component_stack: withoutQueries(componentStack) }
  return { component: names.join(' < ').slice(0, LONGEST), context }
}

import { redactUrls } from '../address.js'
import type { Details } from '../client.js'

const MAX_TAG_LENGTH = 200

/**
 * Components that an error passed through, innermost first: names as `component`, the full stack in the context. HTML
 * elements are skipped: their names are lower-case and have no file.
 */
export function componentDetails({ componentStack }: { componentStack?: string | null | undefined }): Details {
  if (!componentStack) return {}
  const names = componentStack
    .split('\n')
    .filter((line) => /^\s*(at )?[A-Z]|:[1-9]\d*\)?$/.test(line))
    .map((line) => line.replace(/^\s*(at )?/, '').replace(/[\s@(].*/, ''))
  const context = { component_stack: redactUrls(componentStack) }
  return { component: names.join(' < ').slice(0, MAX_TAG_LENGTH), context }
}

import { cleanText } from './text.js'

/** Environment of a process without the option `environment` and without NODE_ENV. */
export const DEFAULT_ENVIRONMENT = 'production'
/** Part of a key in every database, so its length is limited. */
export const MAX_ENVIRONMENT_LENGTH = 64
/** Environment that collects the errors of clients with too many environment names. */
export const OTHER_ENVIRONMENT = 'other'

/**
 * Returns a name that is safe as a key and on one line, or undefined if the value is not a name. Removes bidirectional
 * control characters: pages show them as other characters, even in form fields.
 */
export function environmentName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const start = value.slice(0, 4 * MAX_ENVIRONMENT_LENGTH).replace(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
  return cleanText(start.trim(), MAX_ENVIRONMENT_LENGTH).trim() || undefined
}

/** Message about an environment that no error has, or null. Null without any error, because every name is then unknown. */
export function unknownEnvironmentText(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || known.includes(name)) return null
  return `No error has the environment "${name}". Known environments: ${known.map((other) => `"${other}"`).join(', ')}`
}

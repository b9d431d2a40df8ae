import { cleanText } from './text.js'

/** Widths of the columns that store tags. */
const MAX_KEY_LENGTH = 64
const MAX_VALUE_LENGTH = 200
/** Values of one key that a filter finds, per error. */
export const MAX_TAG_VALUES = 50

/** Tag as stored for filters: in lower case, with single spaces. */
export interface Tag {
  key: string
  value: string
}

/** Tags of an occurrence. Tags without a key or a value cannot be filtered. */
export function readTags(tags: unknown): Tag[] {
  if (typeof tags !== 'object' || tags === null) return []
  return Object.entries(tags)
    .map(([key, value]) => ({
      key: storedText(key, MAX_KEY_LENGTH),
      value: storedText(typeof value === 'object' ? JSON.stringify(value) : String(value), MAX_VALUE_LENGTH),
    }))
    .filter(({ key, value }) => key !== '' && value !== '')
}

/** Reads a filter such as `city:Berlin`, or `city` for any value. */
export function parseTag(text: string, separator: ':' | '='): { key: string; value: string | null } {
  const at = text.indexOf(separator)
  const key = storedText(at < 0 ? text : text.slice(0, at), MAX_KEY_LENGTH)
  const value = at < 0 ? '' : storedText(text.slice(at + 1), MAX_VALUE_LENGTH)
  return { key, value: value === '' ? null : value }
}

function storedText(text: string, limit: number): string {
  return cleanText(text.replaceAll(/\s+/g, ' ').trim().toLowerCase(), limit)
}

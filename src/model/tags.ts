import { cleanText, OMITTED_KEYS } from './text.js'

/** Widths of the columns that store tags. */
const MAX_KEY_LENGTH = 64
const MAX_VALUE_LENGTH = 200
/** Keys that a filter finds, per error. An occurrence has up to 50. */
export const MAX_TAG_KEYS = 100
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
  return Object.entries(tags).flatMap(([key, value]) => storedTag(key, value) ?? [])
}

/** Null for a tag that cannot be filtered. */
export function storedTag(name: string, content: unknown): Tag | null {
  const key = storedText(name, MAX_KEY_LENGTH)
  const value = storedText(tagText(content), MAX_VALUE_LENGTH)
  return key === '' || key === OMITTED_KEYS || value === '' ? null : { key, value }
}

/** Value of a tag as text. */
export function tagText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export interface TagFilter {
  key: string
  /** Null for any value. */
  value: string | null
}

/** Keys with more separators are rare. Values such as URLs may have many. */
const MAX_SEPARATORS_IN_KEY = 3

/** Reads a filter such as `city:Berlin`, or `city` for any value. */
export function parseTag(text: string, separator: ':' | '='): TagFilter {
  const at = text.indexOf(separator)
  return at < 0 ? anyValue(text) : toFilter(text.slice(0, at), text.slice(at + 1))
}

/**
 * All tags that a filter can mean, because keys such as `aws:region` contain the separator.
 * @example possibleTags('aws:region:eu-1', ':') // [{ key: 'aws', value: 'region:eu-1' }, { key: 'aws:region', value: 'eu-1' },
 * { key: 'aws:region:eu-1', value: null }]
 */
export function possibleTags(text: string, separator: ':' | '='): TagFilter[] {
  const parts = text.split(separator)
  const splits = parts.slice(1, 2 + MAX_SEPARATORS_IN_KEY).map((_, i) => {
    const key = parts.slice(0, i + 1).join(separator)
    return toFilter(key, text.slice(key.length + 1))
  })
  return [...splits, anyValue(text)].filter(({ key }) => key !== '')
}

function toFilter(key: string, value: string): TagFilter {
  return { key: storedText(key, MAX_KEY_LENGTH), value: storedText(value, MAX_VALUE_LENGTH) || null }
}

function anyValue(key: string): TagFilter {
  return toFilter(key, '')
}

function storedText(text: string, limit: number): string {
  return cleanText(text.replaceAll(/\s+/g, ' ').trim().toLowerCase(), limit)
}

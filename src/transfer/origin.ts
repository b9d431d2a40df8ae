import { createHash } from 'node:crypto'

/** Identity of a group in its database. A copy of the database has the same identities. */
export interface Group {
  application_name: string
  application_created_at: number
  hash_signature: string
  error_id: number
}

export function originId(group: Group): string {
  const { application_name, application_created_at, hash_signature, error_id } = group
  return digestJson([application_name, application_created_at, hash_signature, error_id])
}

export function digestJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

const MARKER_PREFIX = 'imported '

/** Name of the row that marks a group, or a part of it, as imported into an error. */
export function markerName(error_id: number, origin: string, part = 1): string {
  return part === 1 ? `${MARKER_PREFIX}${error_id} ${origin}` : `${MARKER_PREFIX}${error_id} ${origin} ${part}`
}

export const MARKER_PATTERN = `${MARKER_PREFIX}%`

export function parseMarkerName(name: string): { error_id: number; origin: string; part: number } {
  const [error_id, origin = '', part = '1'] = name.slice(MARKER_PREFIX.length).split(' ')
  return { error_id: Number(error_id), origin, part: Number(part) }
}

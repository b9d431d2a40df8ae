import { createHash } from 'node:crypto'

/** A group of one database. A copy of the database has the same groups. */
export interface Group {
  application_name: string
  application_created_at: number
  hash_signature: string
  error_id: number
}

export function originId(group: Group): string {
  const { application_name, application_created_at, hash_signature, error_id } = group
  return digestOf([application_name, application_created_at, hash_signature, error_id])
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

const MARK_PREFIX = 'imported '

/** Name of the marker that a group, or a further part of it, was imported into an error. */
export function markName(error_id: number, origin: string, part = 1): string {
  return part === 1 ? `${MARK_PREFIX}${error_id} ${origin}` : `${MARK_PREFIX}${error_id} ${origin} ${part}`
}

export const MARK_PATTERN = `${MARK_PREFIX}%`

export function readCheckpoint(name: string): { error_id: number; origin: string; part: number } {
  const [error_id, origin = '', part = '1'] = name.slice(MARK_PREFIX.length).split(' ')
  return { error_id: Number(error_id), origin, part: Number(part) }
}

import { MAX_ENVIRONMENT_LENGTH } from '../environment.js'
import { filterText, id, optional } from './input.js'

/** Parameters that limit a list, chart or query to an application and an environment. */
export const scopeInput = {
  application_id: optional(id()),
  environment: filterText({ max: MAX_ENVIRONMENT_LENGTH, note: 'only this environment' }),
}

/** Selected application and environment. Undefined selects all. Both keys are required, so that no query omits one. */
export interface Scope {
  application_id: number | undefined
  environment: string | undefined
}

/** Returns true if a record belongs to the selected application and environment. */
export function isInScope(
  record: { application_id: number; environment: string },
  { application_id = record.application_id, environment = record.environment }: Partial<Scope>,
): boolean {
  return record.application_id === application_id && record.environment === environment
}

/** Part of a cache key. */
export function scopeKey({ application_id, environment }: Scope): string {
  return JSON.stringify([application_id, environment])
}

/** Scope without limits. */
export const ALL_ERRORS: Scope = { application_id: undefined, environment: undefined }

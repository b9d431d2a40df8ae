/** Roles of the dashboard. Each role includes the roles before it. */
export const ROLES = ['viewer', 'responder', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Width of the columns that store names of people. */
export const MAX_PERSON_NAME_LENGTH = 255

/** Longest address that mail servers accept. */
const MAX_EMAIL_LENGTH = 254

/** Person in the configuration or from the host's own sign-in. */
export interface Person {
  name: string
  role: Role
  email?: string | null | undefined
}

/** Signed-in person or program. */
export interface Identity {
  name: string
  role: Role
  email: string | null
  /** Scheme of the sign-in: a password of the dashboard, the host's own sign-in, or an API token. */
  kind: 'password' | 'host' | 'token'
  /** True if several people share this account, so that forms ask for their names. */
  is_shared: boolean
}

export function includesRole(role: Role, required: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(required)
}

/** Reads a person from untrusted data, or returns the problem. Additional fields are ignored. */
export function readPerson(data: unknown): { person: Person & { email: string | null } } | { problem: string } {
  if (typeof data !== 'object' || data === null) return { problem: 'it must be an object with name and role' }
  const { name, role, email = null } = data as Record<string, unknown>
  if (typeof name !== 'string' || name.trim() === '') return { problem: 'name must be a non-empty string' }
  if (name.length > MAX_PERSON_NAME_LENGTH)
    return { problem: `name must have at most ${MAX_PERSON_NAME_LENGTH} characters` }
  if (UNPRINTABLE.test(name)) return { problem: 'name must not contain control characters' }
  if (!ROLES.includes(role as Role)) return { problem: `role must be one of ${ROLES.join(', ')}` }
  if (email !== null && !isEmail(email)) return { problem: 'email must be an email address or omitted' }
  return { person: { name: name.trim(), role: role as Role, email: email as string | null } }
}

/** Control characters, invisible formatting, line separators, lone surrogates. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

function isEmail(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_EMAIL_LENGTH && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(value)
}

import { TrackerError } from '../model/errors.js'
import { includesRole, type Role } from '../model/people/identity.js'
import type { Visit } from './define.js'

/** Checks whether the signed-in person has the role, or a role that includes it. */
export function allows({ identity }: Pick<Visit, 'identity'>, role: Role): boolean {
  return identity !== null && includesRole(identity.role, role)
}

/** Throws `forbidden_role` with the required and the current role. */
export function requireRole(visit: Pick<Visit, 'identity' | 'user'>, role: Role): void {
  if (allows(visit, role)) return
  throw new TrackerError(
    'forbidden_role',
    `This requires the role ${role}. You are signed in as ${visit.user} with the role ${visit.identity?.role}.`,
  )
}

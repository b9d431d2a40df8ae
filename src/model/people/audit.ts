/** Ways in which a change reaches the tracker. `host` also covers calls in the code of the host. */
export const AUDIT_KINDS = ['password', 'host', 'token', 'cli', 'mcp', 'system'] as const

export type AuditKind = (typeof AUDIT_KINDS)[number]

/** Changes that the Audit page shows. */
export const AUDIT_ACTIONS = [
  'resolve',
  'reopen',
  'set_status',
  'assign',
  'unassign',
  'set_priority',
  'snooze',
  'unsnooze',
  'mute',
  'unmute',
  'comment',
  'delete',
  'clean_up',
  'import',
  'save_view',
  'delete_view',
  'create_token',
  'revoke_token',
  'retry_notification',
  'test_notification',
  'capture_dump',
  'delete_dump',
  'store_source_maps',
  'delete_source_maps',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Name of the tracker in the trails of its own changes. */
export const SYSTEM_ACTOR = 'Faultboard'

/** Actor and channel of a change. */
export interface ChangeOrigin {
  kind: AuditKind
  /** Null if only the input of a command contains the name. */
  actor: string | null
  /** Network address of a request. */
  address: string | null
  /** Name that a person of a shared account entered in a form. */
  entered_name?: string | null
}

/** Origin of commands that the host calls. The host passes the name of the actor to each command. */
export const HOST_CODE: ChangeOrigin = { kind: 'host', actor: null, address: null }

/** Change for the Audit page. Contains no free text such as comments, because people paste secrets into it. */
export interface AuditedChange {
  action: AuditAction
  error_id?: number | undefined
  /** Changed record that is not an error, such as the name of a view. */
  target?: string
  /** Number of changed records of a bulk action. */
  count?: number
  /** New value, such as the assignee. */
  detail?: string
}

/** Receives the changes of commands. */
export interface AuditTrail {
  /** Never rejects: a change must not fail because it cannot be recorded. */
  add(change: AuditedChange, inputActor?: string): Promise<void>
}

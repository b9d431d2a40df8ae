import type { AuditAction, AuditKind } from '../../../model/people/audit.js'

export const KIND_LABELS: Record<AuditKind, string> = {
  password: 'Password',
  host: 'Application',
  token: 'API token',
  cli: 'Command line',
  mcp: 'Agent (MCP)',
  system: 'Faultboard',
}

export const ACTION_LABELS: Record<AuditAction, string> = {
  resolve: 'Resolved',
  reopen: 'Reopened',
  set_status: 'Set status',
  assign: 'Assigned',
  unassign: 'Unassigned',
  set_priority: 'Set priority',
  snooze: 'Snoozed',
  unsnooze: 'Ended snooze',
  mute: 'Muted',
  unmute: 'Unmuted',
  comment: 'Commented',
  delete: 'Deleted',
  clean_up: 'Deleted old errors',
  import: 'Imported',
  save_view: 'Saved view',
  delete_view: 'Deleted view',
  create_token: 'Created token',
  revoke_token: 'Revoked token',
  retry_notification: 'Retried notification',
  test_notification: 'Sent test notification',
  capture_dump: 'Captured dump',
  delete_dump: 'Deleted dump',
  store_source_maps: 'Stored source maps',
  delete_source_maps: 'Deleted source maps',
}

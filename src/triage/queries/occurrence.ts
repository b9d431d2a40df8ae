import type { Selectable } from '../../store/kysely.js'
import type { OccurrencesTable } from '../../store/schema.js'
import type { CapturedData, Occurrence, OccurrenceBreadcrumb } from './error-record.js'

/** Converts a stored row to an occurrence. */
export function toOccurrence(row: Selectable<OccurrencesTable>, message: string): Occurrence {
  const {
    request_params = null,
    request = null,
    tags = {},
    context = {},
    breadcrumbs = [],
    ...details
  } = (row.context ? JSON.parse(row.context) : {}) as StoredContext
  return {
    id: row.id,
    occurred_at: new Date(row.occurred_at).toISOString(),
    message: row.message ?? message,
    platform: row.platform,
    app_version: row.app_version,
    git_sha: row.git_sha,
    user_id: row.user_id,
    request_url: row.request_url,
    request_params,
    ip_address: row.ip_address,
    user_agent: row.user_agent,
    request,
    tags,
    context,
    breadcrumbs: breadcrumbs.map((crumb) => ({ ...crumb, occurred_at: new Date(crumb.occurred_at).toISOString() })),
    details,
  }
}

interface StoredContext extends Record<string, unknown> {
  request_params?: unknown
  request?: Record<string, unknown>
  tags?: Record<string, unknown>
  context?: Record<string, unknown>
  breadcrumbs?: (Omit<OccurrenceBreadcrumb, 'occurred_at'> & { occurred_at: number })[]
}

/** Data captured with an occurrence. Empty when no occurrence is stored. */
export function pickCapturedData(occurrence: Occurrence | null): CapturedData {
  if (!occurrence) return EMPTY_CAPTURED_DATA
  const { request_url, request_params, ip_address, user_agent, request, tags, context, breadcrumbs, details } =
    occurrence
  return { request_url, request_params, ip_address, user_agent, request, tags, context, breadcrumbs, details }
}

const EMPTY_CAPTURED_DATA: CapturedData = {
  request_url: null,
  request_params: null,
  ip_address: null,
  user_agent: null,
  request: null,
  tags: {},
  context: {},
  breadcrumbs: [],
  details: {},
}

import type { RecordedBreadcrumb } from '../capture/breadcrumbs/breadcrumb.js'
import type { ForeignError } from '../capture/clients/foreign-error.js'
import { clientStack } from '../model/stacks/client-stack.js'
import { DAY, epochMilliseconds, MINUTE } from '../model/time.js'
import type { ReportedError } from './contract.js'

/** Trusted data about the client, provided by the host. */
export interface ReportingClient {
  now: number
  user_id: string | number | undefined
  ip_address: string | null
  user_agent: string | null
  script_origins: readonly string[]
  max_backtrace_lines: number
}

/** Converts a reported error to the fields of the tracker. */
export function toForeignError(report: ReportedError, client: ReportingClient): ForeignError {
  const { error_type, message, platform, app_version, environment, url, component, context, tags, device_info, count } =
    report
  const { now, user_id, ip_address, user_agent, script_origins, max_backtrace_lines } = client
  const { occurred_at, claimed } = plausibleTime(report.timestamp, now)
  const stack = clientStack(report.stack ?? '', {
    message,
    maxLines: max_backtrace_lines,
    page_url: url,
    script_origins,
  })
  return {
    source: 'reporting',
    ...{ error_type, message, platform, app_version, environment, user_id, occurred_at },
    backtrace: stack.backtrace,
    causes: stack.causes,
    request_url: url,
    ip_address: ip_address ?? undefined,
    user_agent: user_agent ?? undefined,
    breadcrumbs: readBreadcrumbs(report.breadcrumbs, occurred_at),
    ...(tags || component ? { tags: { ...tags, ...(component && { component }) } } : {}),
    ...(context || device_info ? { context: { ...context, ...(device_info && { device: device_info }) } } : {}),
    event_key: eventKey(report),
    details: {
      ...(claimed !== null && { claimed_timestamp: claimed }),
      ...(report.event_id && { event_id: report.event_id }),
      ...(count !== undefined && count > 1 && { client_count: count }),
    },
  }
}

/**
 * Includes more than the id. Otherwise, a client that numbers its events from one would suppress events of other
 * clients.
 */
function eventKey({ event_id, timestamp, app_version, error_type, message }: ReportedError): string | undefined {
  if (!event_id) return undefined
  return ['reporting', event_id, timestamp, app_version, error_type, message.slice(0, 100)].join('\n')
}

/** Maximum clock skew. Beyond it, the time of arrival is used. */
const MAX_CLOCK_LEAD_MS = 5 * MINUTE
const MAX_CLOCK_LAG_MS = 7 * DAY

/** Accepts plausible times. An implausible time is kept for display only. */
function plausibleTime(timestamp: number | undefined, now: number): { occurred_at: number; claimed: number | null } {
  if (timestamp === undefined) return { occurred_at: now, claimed: null }
  const time = Math.trunc(epochMilliseconds(timestamp))
  if (time <= now + MAX_CLOCK_LEAD_MS && time >= now - MAX_CLOCK_LAG_MS)
    return { occurred_at: Math.min(time, now), claimed: null }
  return { occurred_at: now, claimed: timestamp }
}

const MAX_BREADCRUMBS = 100
/** Far above the stored length, so that redaction sees whole secrets, and far below the maximum body size. */
const MAX_TEXT_LENGTHS = { category: 200, message: 2000 }

/** Breadcrumbs, oldest first. Invalid entries are skipped. */
function readBreadcrumbs(
  entries: readonly unknown[] | undefined,
  occurred_at: number,
): RecordedBreadcrumb[] | undefined {
  return entries?.slice(-MAX_BREADCRUMBS).flatMap((entry): RecordedBreadcrumb[] => {
    if (typeof entry !== 'object' || entry === null) return []
    const { category, message, timestamp, duration_ms, metadata } = entry as Record<string, unknown>
    if (typeof message !== 'string') return []
    const plausible =
      typeof timestamp === 'number' && Number.isFinite(timestamp) ? plausibleTime(timestamp, occurred_at) : null
    return [
      {
        category: typeof category === 'string' ? category.slice(0, MAX_TEXT_LENGTHS.category) : 'client',
        message: message.slice(0, MAX_TEXT_LENGTHS.message),
        occurred_at: plausible?.occurred_at ?? occurred_at,
        ...(typeof duration_ms === 'number' && Number.isFinite(duration_ms) && { duration_ms }),
        ...(typeof metadata === 'object' && metadata !== null && { metadata: metadata as Record<string, unknown> }),
      },
    ]
  })
}

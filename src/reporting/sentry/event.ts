import type { ForeignError } from '../../capture/clients/foreign-error.js'
import type { Severity } from '../../model/severity/severity.js'
import { readBreadcrumbs } from './breadcrumbs.js'
import { allStacktraces, fallbackStack, readException } from './exceptions.js'
import { readFrameSources } from './frame-sources.js'
import { eventPlatform } from './platform.js'
import { parseRelease, releaseNames } from './release.js'
import { eventRequest } from './request.js'
import { asList, asPairs, asRecord, asScalarText, asText, asTime, fromPairs, type Json } from './values.js'

/** Data about an event that its payload does not contain. */
export interface EventOrigin {
  now: number
  /** Time on the client's clock when it sent the event. */
  sent_at?: number | undefined
  project_id: string
  event_id: string
  /** Address to store with the error; undefined if none should be stored. */
  remote_address?: string | undefined
}

/** Converts a Sentry event to an error. Returns null for an event without an error. */
export function toForeignError(event: Json, origin: EventOrigin): ForeignError | null {
  const thrown = readException(event)
  const message = eventMessage(event)
  if (!thrown && message === undefined) return null
  const occurred_at = eventTime(event, origin)
  const level = asText(event.level)
  const { build, ...release } = parseRelease(asText(event.release))
  return {
    source: 'sentry',
    error_type: thrown?.error_type ?? 'Message',
    message: thrown?.message ?? message ?? '',
    backtrace: thrown?.backtrace ?? fallbackStack(event),
    causes: thrown?.causes ?? [],
    frame_sources: readFrameSources(allStacktraces(event)),
    unhandled: thrown?.unhandled ?? false,
    severity: eventSeverity(level, thrown !== undefined && !thrown.isMessage),
    platform: eventPlatform(event),
    ...release,
    environment: asText(event.environment),
    releases: releaseNames(asText(event.release)),
    ...eventUser(event, origin),
    ...eventRequest(event),
    tags: fromPairs(asPairs(event.tags, MAX_TAGS)),
    context: eventContext(event, thrown?.isMessage === false ? message : undefined),
    details: eventDetails(event, origin, { build, unhandled: thrown?.unhandled }),
    breadcrumbs: readBreadcrumbs(event, occurred_at).map((breadcrumb) => ({
      ...breadcrumb,
      occurred_at: breadcrumb.occurred_at + clockCorrection(origin),
    })),
    occurred_at,
    fingerprint: eventFingerprint(event),
    debug_ids: eventDebugIds(event),
    ...eventTrace(event),
    event_key: ['sentry', origin.project_id, origin.event_id].join('\n'),
  }
}

const MAX_TAGS = 100

function eventMessage(event: Json): string | undefined {
  const entry = asRecord(event.logentry) ?? asRecord(event.message) ?? asRecord(event['sentry.interfaces.Message'])
  return asText(entry?.formatted) ?? asText(entry?.message) ?? asText(event.message)
}

/** Maps the level to a severity. Ignores `error`, the default level of exceptions, so that the severity rules apply. */
function eventSeverity(level: string | undefined, isThrown: boolean): Severity | undefined {
  if (level === 'fatal' || level === 'critical') return 'critical'
  if (level === 'warning') return 'medium'
  if (level === 'info' || level === 'log' || level === 'debug') return 'low'
  return isThrown ? undefined : 'medium'
}

/** Maximum clock skew before the time is corrected with the client's send time. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000

function clockCorrection({ now, sent_at }: EventOrigin): number {
  if (sent_at === undefined || !Number.isFinite(sent_at)) return 0
  const skew = now - sent_at
  return Math.abs(skew) > MAX_CLOCK_SKEW_MS ? skew : 0
}

function eventTime(event: Json, origin: EventOrigin): number {
  const time = asTime(event.timestamp)
  if (time === undefined || !Number.isFinite(time)) return origin.now
  return Math.trunc(time + clockCorrection(origin))
}

function eventUser(event: Json, { remote_address }: EventOrigin): Pick<ForeignError, 'user_id' | 'ip_address'> {
  const user = asRecord(event.user) ?? {}
  const claimedAddress = asText(user.ip_address)
  const address = claimedAddress === undefined || claimedAddress === '{{auto}}' ? remote_address : claimedAddress
  return {
    user_id: asScalarText(user.id) ?? asText(user.username) ?? asText(user.email),
    ip_address: remote_address === undefined ? undefined : address,
  }
}

/** Device, operating system, browser and custom contexts. The trace has its own fields. */
function eventContext(event: Json, message: string | undefined): Record<string, unknown> {
  const { trace: _, ...contexts } = asRecord(event.contexts) ?? {}
  const { ip_address: _address, geo: _geo, ...user } = asRecord(event.user) ?? {}
  const extra = asRecord(event.extra) ?? {}
  return {
    ...(Object.keys(user).length > 0 ? { user } : {}),
    ...contexts,
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
    ...(message === undefined ? {} : { message }),
  }
}

function eventDetails(
  event: Json,
  { project_id, event_id }: EventOrigin,
  { build, unhandled }: { build: string | undefined; unhandled: boolean | undefined },
): Record<string, unknown> {
  const sdk = asRecord(event.sdk)
  const [newest] = asList(event.exception, 1, 'end')
  const details = {
    unhandled: unhandled || undefined,
    level: asText(event.level),
    transaction: asText(event.transaction),
    logger: asText(event.logger),
    server_name: asText(event.server_name),
    build: build ?? asScalarText(event.dist),
    mechanism: asText(asRecord(newest?.mechanism)?.type),
    sdk: [asText(sdk?.name), asText(sdk?.version)].filter(Boolean).join(' ') || undefined,
    project_id,
    event_id,
  }
  return fromPairs(Object.entries(details).filter(([, value]) => value !== undefined))
}

const MAX_FINGERPRINT_PARTS = 20
const MAX_PART_LENGTH = 500

function eventFingerprint(event: Json): string[] | undefined {
  if (!Array.isArray(event.fingerprint)) return undefined
  const parts = event.fingerprint
    .slice(0, MAX_FINGERPRINT_PARTS)
    .flatMap((part) => asScalarText(part)?.slice(0, MAX_PART_LENGTH) ?? [])
  return parts.length > 0 ? parts : undefined
}

const MAX_SCRIPTS = 100

/** Debug ids by script, which link scripts to source maps. */
function eventDebugIds(event: Json): Record<string, string> | undefined {
  const images = asList(asRecord(event.debug_meta)?.images, MAX_SCRIPTS)
  const idsByScript = images.flatMap(({ code_file, debug_id }): [string, string][] =>
    typeof code_file === 'string' && typeof debug_id === 'string' ? [[code_file, debug_id]] : [],
  )
  return idsByScript.length > 0 ? Object.fromEntries(idsByScript) : undefined
}

function eventTrace(event: Json): Pick<ForeignError, 'trace'> {
  const { trace_id, span_id } = asRecord(asRecord(event.contexts)?.trace) ?? {}
  if (typeof trace_id !== 'string') return {}
  return { trace: { trace_id, ...(typeof span_id === 'string' ? { span_id } : {}) } }
}

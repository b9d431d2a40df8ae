import type { ForeignError } from '../../capture/clients/foreign-error.js'
import type { Severity } from '../../model/severity.js'
import { breadcrumbsOf } from './breadcrumbs.js'
import { stackBeside, stacktracesIn, thrownIn } from './exceptions.js'
import { frameSourcesIn } from './frame-sources.js'
import { platformOf } from './platform.js'
import { releaseNames, releaseOf } from './release.js'
import { requestOf } from './request.js'
import { type Json, mappingOf, pairsOf, recordOf, textIn, timeIn, valuesOf, wordIn } from './values.js'

/** Facts about an event in addition to its content. */
export interface Arrived {
  now: number
  /** Time on the client's clock when it sent the event. */
  sent_at?: number | undefined
  project_id: string
  event_id: string
  /** Address to store with the error; undefined if none should be stored. */
  remote_address?: string | undefined
}

/** Converts a Sentry event to an error; null if it contains none. */
export function errorOf(event: Json, arrival: Arrived): ForeignError | null {
  const thrown = thrownIn(event)
  const message = messageOf(event)
  if (!thrown && message === undefined) return null
  const occurred_at = timeOf(event, arrival)
  const level = textIn(event.level)
  const { build, ...release } = releaseOf(textIn(event.release))
  return {
    source: 'sentry',
    error_type: thrown?.error_type ?? 'Message',
    message: thrown?.message ?? message ?? '',
    backtrace: thrown?.backtrace ?? stackBeside(event),
    causes: thrown?.causes ?? [],
    frame_sources: frameSourcesIn(stacktracesIn(event)),
    unhandled: thrown?.unhandled ?? false,
    severity: severityOf(level, thrown !== undefined && !thrown.is_message),
    platform: platformOf(event),
    ...release,
    releases: releaseNames(textIn(event.release)),
    ...userOf(event, arrival),
    ...requestOf(event),
    tags: mappingOf(pairsOf(event.tags, MOST_VALUES)),
    context: contextOf(event, thrown?.is_message === false ? message : undefined),
    details: detailsOf(event, arrival, { build, unhandled: thrown?.unhandled }),
    breadcrumbs: breadcrumbsOf(event, occurred_at).map((crumb) => ({
      ...crumb,
      occurred_at: crumb.occurred_at + clockDifference(arrival),
    })),
    occurred_at,
    fingerprint: fingerprintOf(event),
    debug_ids: debugIdsOf(event),
    ...traceOf(event),
    event_key: ['sentry', arrival.project_id, arrival.event_id].join('\n'),
  }
}

const MOST_VALUES = 100

function messageOf(event: Json): string | undefined {
  const entry = recordOf(event.logentry) ?? recordOf(event.message) ?? recordOf(event['sentry.interfaces.Message'])
  return textIn(entry?.formatted) ?? textIn(entry?.message) ?? textIn(event.message)
}

/** The level of an exception is `error` unless it was set explicitly. Otherwise the severity rules apply. */
function severityOf(level: string | undefined, thrown: boolean): Severity | undefined {
  if (level === 'fatal' || level === 'critical') return 'critical'
  if (level === 'warning') return 'medium'
  if (level === 'info' || level === 'log' || level === 'debug') return 'low'
  return thrown ? undefined : 'medium'
}

/** Maximum clock skew before the time is corrected with the client's send time. */
const CLOCK_DIFFERENCE = 5 * 60_000

function clockDifference({ now, sent_at }: Arrived): number {
  if (sent_at === undefined || !Number.isFinite(sent_at)) return 0
  const difference = now - sent_at
  return Math.abs(difference) > CLOCK_DIFFERENCE ? difference : 0
}

function timeOf(event: Json, arrival: Arrived): number {
  const time = timeIn(event.timestamp)
  if (time === undefined || !Number.isFinite(time)) return arrival.now
  return Math.trunc(time + clockDifference(arrival))
}

function userOf(event: Json, { remote_address }: Arrived): Pick<ForeignError, 'user_id' | 'ip_address'> {
  const user = recordOf(event.user) ?? {}
  const named = textIn(user.ip_address)
  const address = named === undefined || named === '{{auto}}' ? remote_address : named
  return {
    user_id: wordIn(user.id) ?? textIn(user.username) ?? textIn(user.email),
    ip_address: remote_address === undefined ? undefined : address,
  }
}

/** Devices, systems, browsers, and custom data. The trace has its own fields. */
function contextOf(event: Json, message: string | undefined): Record<string, unknown> {
  const { trace: _, ...contexts } = recordOf(event.contexts) ?? {}
  const { ip_address: _address, geo: _geo, ...user } = recordOf(event.user) ?? {}
  const extra = recordOf(event.extra) ?? {}
  return {
    ...(Object.keys(user).length > 0 ? { user } : {}),
    ...contexts,
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
    ...(message === undefined ? {} : { message }),
  }
}

function detailsOf(
  event: Json,
  { project_id, event_id }: Arrived,
  { build, unhandled }: { build: string | undefined; unhandled: boolean | undefined },
): Record<string, unknown> {
  const sdk = recordOf(event.sdk)
  const [newest] = valuesOf(event.exception, 1, 'end')
  const details = {
    environment: textIn(event.environment),
    unhandled: unhandled || undefined,
    level: textIn(event.level),
    transaction: textIn(event.transaction),
    logger: textIn(event.logger),
    server_name: textIn(event.server_name),
    build: build ?? wordIn(event.dist),
    mechanism: textIn(recordOf(newest?.mechanism)?.type),
    sdk: [textIn(sdk?.name), textIn(sdk?.version)].filter(Boolean).join(' ') || undefined,
    project_id,
    event_id,
  }
  return mappingOf(Object.entries(details).filter(([, value]) => value !== undefined))
}

const MOST_PARTS = 20
const PART_LIMIT = 500

function fingerprintOf(event: Json): string[] | undefined {
  if (!Array.isArray(event.fingerprint)) return undefined
  const parts = event.fingerprint.slice(0, MOST_PARTS).flatMap((part) => wordIn(part)?.slice(0, PART_LIMIT) ?? [])
  return parts.length > 0 ? parts : undefined
}

const MOST_SCRIPTS = 100

/** Source map ids by script, as written by bundlers. */
function debugIdsOf(event: Json): Record<string, string> | undefined {
  const images = valuesOf(recordOf(event.debug_meta)?.images, MOST_SCRIPTS)
  const known = images.flatMap(({ code_file, debug_id }): [string, string][] =>
    typeof code_file === 'string' && typeof debug_id === 'string' ? [[code_file, debug_id]] : [],
  )
  return known.length > 0 ? Object.fromEntries(known) : undefined
}

function traceOf(event: Json): Pick<ForeignError, 'trace'> {
  const { trace_id, span_id } = recordOf(recordOf(event.contexts)?.trace) ?? {}
  if (typeof trace_id !== 'string') return {}
  return { trace: { trace_id, ...(typeof span_id === 'string' ? { span_id } : {}) } }
}

import { hash } from 'node:crypto'
import type { Cause, ClientSource } from '../../model/event.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import type { Severity } from '../../model/severity/severity.js'
import type { FrameSource } from '../../model/stacks/frame-source.js'
import type { RecordedBreadcrumb } from '../breadcrumbs/breadcrumb.js'
import type { CaptureContext } from '../capture-context.js'
import type { Draft } from '../draft.js'
import { parseTrace, type Trace } from '../facts/trace.js'
import type { RequestFacts } from '../fields.js'
import { readBacktrace, readText, readTime } from '../fields.js'
import { type Outcome, recordDraft, reportFailure } from '../log-error.js'
import { readLimit, TEXT_LIMITS } from '../values/text-limits.js'
import { getClientBudgets } from './client-budgets.js'

/** An error from another process: a browser, a phone, another service. Nothing in it is trusted. */
export interface ForeignError {
  source: ClientSource
  error_type: string
  message: string
  backtrace: readonly string[]
  causes?: readonly Cause[]
  /** Source lines around frames, if the client sent them. */
  frame_sources?: readonly FrameSource[] | undefined
  platform?: string | undefined
  app_version?: string | undefined
  /** Default: the environment of this process. */
  environment?: string | undefined
  git_sha?: string | undefined
  /** Release names under which source maps may have been uploaded, most likely first. Default: `app_version`. */
  releases?: readonly string[] | undefined
  user_id?: string | number | undefined
  request_url?: string | undefined
  request_params?: unknown
  ip_address?: string | undefined
  user_agent?: string | undefined
  request?: RequestFacts | undefined
  tags?: Readonly<Record<string, unknown>> | undefined
  context?: Readonly<Record<string, unknown>> | undefined
  details?: Readonly<Record<string, unknown>> | undefined
  breadcrumbs?: readonly RecordedBreadcrumb[] | undefined
  /** Milliseconds on the client's clock. */
  occurred_at?: number | undefined
  severity?: Severity | undefined
  unhandled?: boolean | undefined
  fingerprint?: readonly string[] | undefined
  /** Debug ids that a bundler wrote into scripts, by script URL. They identify the source maps. */
  debug_ids?: Readonly<Record<string, string>> | undefined
  trace?: Trace | undefined
  /** Identical for every attempt to report the error, so that the error counts once across all processes. */
  event_key?: string | undefined
}

/**
 * Records an error from another process. Unlike `logError`, adds no data from this process: no request, breadcrumbs,
 * version or host name. Never rejects and never throws.
 */
export function logForeignError(context: CaptureContext, error: ForeignError): Promise<Outcome> {
  try {
    const budgets = getClientBudgets(context)
    return recordDraft(context, toDraft(context, error), (event) => budgets.admit(event))
  } catch (failure) {
    reportFailure(context, 'recording a client error', failure)
    return Promise.resolve(null)
  }
}

function toDraft({ config, now }: CaptureContext, error: ForeignError): Draft {
  const text = (field: keyof typeof TEXT_LIMITS & keyof ForeignError) =>
    readText(error[field], readLimit(field)) ?? null
  const lines = createStackReader(config.max_backtrace_lines)
  const backtrace = lines(error.backtrace)
  const causes = boundCauses(error.causes ?? [], lines)
  return {
    thrown: undefined,
    error_type: readText(error.error_type, TEXT_LIMITS.error_type) ?? 'Error',
    message: text('message') ?? '',
    backtrace,
    causes,
    frame_sources: matchingSources(error.frame_sources ?? [], [...backtrace, ...causeLines(causes)]),
    platform: normalizePlatform(text('platform') ?? undefined),
    environment: text('environment') ?? config.environment,
    app_version: text('app_version'),
    git_sha: text('git_sha'),
    user_id: text('user_id'),
    request_url: text('request_url'),
    request_params: error.request_params,
    ip_address: text('ip_address'),
    user_agent: text('user_agent'),
    request: error.request,
    tags: error.tags ? [error.tags] : [],
    context: error.context ? [error.context] : [],
    source: error.source,
    details: { ...error.details, source: error.source, ...parseTrace(error.trace?.trace_id, error.trace?.span_id) },
    process_facts: null,
    system_health: null,
    breadcrumbs: boundBreadcrumbs(error.breadcrumbs, Math.min(MAX_BREADCRUMBS, config.breadcrumb_buffer_size), now()),
    local_variables: null,
    occurred_at: plausibleTime(error.occurred_at, now()),
    explicit_severity: error.severity,
    unhandled: error.unhandled === true,
    request_failed: false,
    fingerprint: error.fingerprint ?? null,
    event_digest: error.event_key === undefined ? undefined : eventDigest(error.event_key),
    severity: 'low',
    hash_signature: '',
    place: null,
    counted_only: false,
  }
}

const MAX_BREADCRUMBS = 40
/** Shared by all stacks of one error, causes included. A typical stack of 100 frames uses a third of this limit. */
const MAX_STACK_CHARACTERS = 32_000

function createStackReader(maxLines: number): (stack: readonly string[]) => string[] {
  let remaining = MAX_STACK_CHARACTERS
  return (stack) =>
    readBacktrace(stack, maxLines).filter((line) => {
      remaining -= line.length
      return remaining >= 0
    })
}

export function eventDigest(key: string): string {
  return hash('sha256', key).slice(0, 32)
}

/** A phone can be offline for weeks. A larger difference means that the clock is wrong. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000

function plausibleTime(reportedTime: number | undefined, now: number): number {
  const time = readTime(reportedTime, now)
  return time < now - MAX_AGE_MS ? now : time
}

/** Replaces invalid times: a time outside the range of Date would break every page that shows it. */
function boundBreadcrumbs(
  crumbs: ForeignError['breadcrumbs'],
  limit: number,
  now: number,
): RecordedBreadcrumb[] | null {
  if (!crumbs) return null
  return crumbs.slice(-limit).map((crumb) => ({ ...crumb, occurred_at: readTime(crumb.occurred_at, now) }))
}

/** Drops source lines of frames that a source map has changed, because the lines no longer match. */
function matchingSources(sources: readonly FrameSource[], lines: readonly string[]): readonly FrameSource[] | null {
  const knownLines = new Set(lines)
  const matching = sources.filter(({ frame }) => knownLines.has(frame))
  return matching.length > 0 ? matching : null
}

function causeLines(causes: readonly Cause[]): string[] {
  return causes.flatMap(({ backtrace, causes: inner }) => [...backtrace, ...causeLines(inner ?? [])])
}

function boundCauses(causes: readonly Cause[], lines: (clientLines: readonly string[]) => readonly string[]): Cause[] {
  return causes.map((cause) => ({
    ...cause,
    error_type: readText(cause.error_type, TEXT_LIMITS.error_type) ?? 'Error',
    message: readText(cause.message, readLimit('cause_message')) ?? '',
    backtrace: lines(cause.backtrace),
    ...(cause.causes ? { causes: boundCauses(cause.causes, lines) } : {}),
  }))
}

import { isIP } from 'node:net'
import { subscribeAll } from '../../capture/breadcrumbs/subscriptions.js'
import type { CaptureContext } from '../../capture/capture-context.js'
import { readField } from '../../capture/fields.js'
import { hasRoomForBreadcrumb } from '../../capture/guards/stack-room.js'
import type { Reporter } from '../../capture/sources/source.js'
import { OTHERS } from '../../model/frequent-names.js'
import type { AnyCase } from '../../model/input/spelling.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { cleanText } from '../../model/text.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import type { TrackerAccess } from '../define.js'
import { GUARD_KINDS, type GuardKind } from './guard-kinds.js'
import { type GuardedRequest, guardedRequest } from './guarded-request.js'
import { GUARD_HOURS } from './hours.js'
import { type GuardNames, NameLimits } from './name-limits.js'

/** Action of one of the host's rate limiters or blocklists. */
export interface RequestGuardEvent {
  kind: GuardKind
  /** The host's name of the rule: `sign-in`. */
  rule: string
  /** The framework's request, which provides address and path. Defaults to the current request. */
  request?: object | undefined
  ip_address?: string | undefined
  path?: string | undefined
}

export interface RequestGuardApi {
  /** Events of the host's rate limiters and blocklists. Controlled by `enable_request_guard_tracking`. */
  readonly requestGuard: {
    /**
     * Counts a throttled, blocked or tracked request and adds a breadcrumb to it. Reads address and path from the
     * request, or from the current request if omitted. Never throws or blocks.
     *
     * @example
     * Tracker.requestGuard.record({ kind: 'blocklist', rule: 'known scrapers', request })
     */
    record(event: AnyCase<RequestGuardEvent>): void
  }
}

/** Lets libraries report without importing Faultboard. */
const CHANNEL = 'faultboard:request-guard'
/** Longer than the stored text, because redaction needs to see a whole secret. */
const MAX_READ_LENGTH = 500
const MAX_CACHED_TEXTS = 1000

const guards = new WeakMap<CaptureContext, RequestGuard>()

/**
 * Counts request-guard events until the tracker stops. Libraries can also publish them.
 *
 * @example
 * import { channel } from 'node:diagnostics_channel'
 * channel('faultboard:request-guard').publish({ kind: 'throttle', rule: 'sign-in', request })
 */
export function collectGuardEvents(reporter: Reporter): () => void {
  const guard = new RequestGuard(reporter.context)
  guards.set(reporter.context, guard)
  const unsubscribe = subscribeAll(reporter, {
    [CHANNEL]: (event: unknown) => {
      if (hasRoomForBreadcrumb()) guard.record(event)
    },
  })
  return () => {
    unsubscribe()
    guards.delete(reporter.context)
  }
}

export function requestGuardApi(tracker: TrackerAccess): RequestGuardApi {
  return {
    requestGuard: {
      record: (event) => tracker.run((context) => getRequestGuard(context)?.record(event)),
    },
  }
}

/** Returns undefined if request-guard tracking is off. */
export function getRequestGuard(context: CaptureContext): RequestGuard | undefined {
  return guards.get(context)
}

/** Counts request-guard events and adds them to the breadcrumbs of the request. */
export class RequestGuard {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<'environment' | keyof GuardNames, 'count' | 'last_seen_at'>
  readonly #limits = new NameLimits()
  /** Cached, because redaction is the slowest step and rules and paths repeat. */
  readonly #redacted = new Map<string, string>()

  constructor(context: CaptureContext) {
    this.#context = context
    this.#counts = context.tallies.forTable(GUARD_HOURS, {
      title: 'request-guard events',
      overflowNames: { rule: OTHERS, ip_address: OTHERS, path: OTHERS },
    })
  }

  /** Never throws, even for invalid events. */
  record(event: unknown): void {
    const { counters } = this.#context
    try {
      if (typeof event === 'object' && event !== null) this.#record(event)
      else counters.add('invalid_guard_event')
    } catch {
      counters.add('failed: request guard')
    }
  }

  #record(event: object): void {
    const { breadcrumbs, config, counters, now } = this.#context
    const kind = GUARD_KINDS.find((name) => name === readField(event, 'kind'))
    if (!kind) {
      counters.add('invalid_guard_event')
      return
    }
    const rule = this.#redact(cleanText(textField(event, 'rule') ?? '', MAX_READ_LENGTH))
    breadcrumbs.add({ category: 'request_guard', message: `${kind}: ${rule}`, metadata: { kind, rule } })
    const request = this.#requestOf(event)
    const eventAddress = textField(event, 'ip_address') ?? textField(event, 'ipAddress')
    const ip_address = eventAddress && isIP(eventAddress) ? eventAddress : (request?.ip_address ?? '')
    const path = this.#pathOf(textField(event, 'path'), request)
    const time = now()
    const names = this.#limits.apply(time, { kind, rule, ip_address, path })
    this.#counts.add({ environment: config.environment, ...names }, { count: 1, last_seen_at: time })
  }

  #requestOf(event: object): GuardedRequest | null {
    const { config, counters, scopes } = this.#context
    const eventRequest = readField(event, 'request')
    const request = typeof eventRequest === 'object' && eventRequest !== null ? eventRequest : scopes.current()?.request
    if (!request) return null
    try {
      return guardedRequest(request, config)
    } catch {
      // A host getter threw. The event is counted without address and path.
      counters.add('failed: request of a guard event')
      return null
    }
  }

  #pathOf(eventPath: string | undefined, request: GuardedRequest | null): string {
    if (eventPath === undefined && request?.route !== undefined) {
      return this.#redact(cleanText(request.route, MAX_READ_LENGTH))
    }
    const url = eventPath ?? request?.url
    return url === undefined ? '' : this.#redact(pathPattern(url))
  }

  #redact(text: string): string {
    const cached = this.#redacted.get(text)
    if (cached !== undefined) return cached
    const redacted = this.#context.redactor.text(text)
    if (this.#redacted.size >= MAX_CACHED_TEXTS) this.#redacted.clear()
    this.#redacted.set(text, redacted)
    return redacted
  }
}

function textField(event: object, name: string): string | undefined {
  const value = readField(event, name)
  return typeof value === 'string' ? value : undefined
}

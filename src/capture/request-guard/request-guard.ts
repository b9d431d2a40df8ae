import { isIP } from 'node:net'
import { GUARD_KINDS, type GuardKind } from '../../model/guard-kinds.js'
import { OTHERS } from '../../model/others.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { cleanText } from '../../model/text.js'
import type { HourCounts } from '../../store/counters/hour-counts.js'
import { GUARD_HOURS } from '../../store/counters/hour-tables.js'
import type { CaptureContext } from '../capture-context.js'
import { readField } from '../fields.js'
import { GuardCrowd, type GuardNames } from './guard-crowd.js'
import { type GuardedRequest, guardedRequest } from './guarded-request.js'

/** What a rate limiter or a blocklist of the host has done. */
export interface RequestGuardEvent {
  kind: GuardKind
  /** What the host calls the rule: `sign-in`. */
  rule: string
  /** The framework's request, which tells address and path; left out, the request that is going on. */
  request?: object | undefined
  ip_address?: string | undefined
  path?: string | undefined
}

/** More than is kept: the filter could not tell half of a secret. */
const READ_LENGTH = 500
const REMEMBERED = 1000

/** Counts what rate limiters do, and leaves it in the trail of the request. */
export class RequestGuard {
  readonly #context: CaptureContext
  readonly #counts: HourCounts<keyof GuardNames, 'count' | 'last_seen_at'>
  readonly #crowd = new GuardCrowd()
  /** Filtering costs more than all the rest, and the same rules and paths come again and again. */
  readonly #filtered = new Map<string, string>()

  constructor(context: CaptureContext) {
    this.#context = context
    this.#counts = context.tallies.of(GUARD_HOURS, {
      title: 'request-guard events',
      others: ({ kind }) => ({ kind, rule: OTHERS, ip_address: OTHERS, path: OTHERS }),
    })
  }

  /** Whatever it is given, it never throws. */
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
    const { breadcrumbs, counters, now } = this.#context
    const kind = GUARD_KINDS.find((one) => one === readField(event, 'kind'))
    if (!kind) {
      counters.add('invalid_guard_event')
      return
    }
    const rule = this.#filter(cleanText(textIn(event, 'rule') ?? '', READ_LENGTH))
    breadcrumbs.add({ category: 'request_guard', message: `${kind}: ${rule}`, metadata: { kind, rule } })
    const request = this.#requestOf(event)
    const given = textIn(event, 'ip_address')
    const ip_address = given && isIP(given) ? given : (request?.ip_address ?? '')
    const path = this.#pathOf(textIn(event, 'path'), request)
    const time = now()
    const names = this.#crowd.narrowed(time, { kind, rule, ip_address, path })
    this.#counts.add(names, { count: 1, last_seen_at: time })
  }

  #requestOf(event: object): GuardedRequest | null {
    const { config, counters, scopes } = this.#context
    const given = readField(event, 'request')
    const request = typeof given === 'object' && given !== null ? given : scopes.current()?.request
    if (!request) return null
    try {
      return guardedRequest(request, config)
    } catch {
      // A getter of the host's threw: the event counts without what it would have told.
      counters.add('failed: request of a guard event')
      return null
    }
  }

  #pathOf(given: string | undefined, request: GuardedRequest | null): string {
    if (given === undefined && request?.route !== undefined) return this.#filter(cleanText(request.route, READ_LENGTH))
    const address = given ?? request?.address
    return address === undefined ? '' : this.#filter(pathPattern(address))
  }

  #filter(text: string): string {
    const known = this.#filtered.get(text)
    if (known !== undefined) return known
    const filtered = this.#context.redactor.text(text)
    if (this.#filtered.size >= REMEMBERED) this.#filtered.clear()
    this.#filtered.set(text, filtered)
    return filtered
  }
}

function textIn(event: object, name: string): string | undefined {
  const value = readField(event, name)
  return typeof value === 'string' ? value : undefined
}

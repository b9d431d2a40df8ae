import { types } from 'node:util'
import { hasRoomForBreadcrumb, hasRoomToRecord, prepareStackProbes } from '../../../../capture/guards/stack-room.js'
import { isObject } from '../../../../capture/values/is-object.js'
import { startOfHour } from '../../../../model/time.js'
import { type CountedSite, CountedSites, currentTally } from './counted-sites.js'
import { collectCauses, errorCode, errorType } from './error-parts.js'
import { isPlainFunction } from './plain-function.js'
import { SeenErrors, type Sighting } from './seen-errors.js'
import { OpenTallies, type Rescues, type Tally, type TallyRow } from './tallies.js'

export interface LedgerOptions {
  now(): number
  /** Finds the location in the host's code that raised an error, from its stack. Null if the stack has none. */
  locate(error: object): string | null
  maxTallies: number
}

/** Mark of a `throw`. Inside a catch block it also contains the caught error. */
export type ThrowMark = string | readonly [mark: string, caught: unknown]

const WARM_UP_MARK = ''

/** Cancellations and network errors that are routinely caught and ignored. */
const IGNORED_TYPES = ['AbortError']
const IGNORED_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
/** V8 formats a stack on first access, which costs more than all other steps of counting. */
const MAX_STACKS_PER_SECOND = 200

/**
 * Counts raised, rescued and reported errors. Errors are tracked by identity: a catch counts as a rescue until the error
 * is rethrown, replaced, wrapped as a cause or reported. The ledger never throws and never keeps an error alive.
 */
export class Ledger {
  readonly #sites = new CountedSites()
  readonly #seen = new SeenErrors()
  readonly #open: OpenTallies
  readonly #options: LedgerOptions
  #ignoredTypes: ReadonlySet<string> = new Set(IGNORED_TYPES)
  #stackReads = { second: 0, count: 0 }

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#open = new OpenTallies(options.maxTallies)
  }

  /** Applies the settings of a tracker that starts after the process. */
  configure({ maxTallies, ignoredTypes, ...options }: LedgerOptions & { ignoredTypes: readonly string[] }): void {
    Object.assign(this.#options, options)
    this.#open.limit = maxTallies
    this.#ignoredTypes = new Set([...IGNORED_TYPES, ...ignoredTypes])
  }

  /** Number of tallies with unflushed counts. */
  get size(): number {
    return this.#open.size
  }

  take(): { rows: TallyRow[]; evicted: number } {
    return this.#open.take()
  }

  /** Compiles the code behind a `throw` mark, because V8 cannot compile it near a stack overflow. */
  warmUp(): void {
    prepareStackProbes()
    this.thrown(WARM_UP_MARK, undefined)
  }

  /** Called by the mark of a `throw`. Returns the thrown value unchanged. */
  readonly thrown = (mark: ThrowMark, value: unknown): unknown => {
    try {
      if (mark === WARM_UP_MARK || !hasRoomForBreadcrumb()) return value
      if (typeof mark === 'string') this.#thrown(this.#sites.forMark(mark), value)
      else this.#replaced(mark, value)
    } catch {
      // The host threw a value that cannot be inspected. It is not counted.
    }
    return value
  }

  /** Called by the marks of catch blocks and promise handlers. */
  readonly caught = (value: unknown, mark: string): void => {
    try {
      if (hasRoomForBreadcrumb()) this.#caught(this.#sites.forMark(mark), value)
    } catch {
      // The host's handler must continue.
    }
  }

  /** Wraps a promise handler passed by reference. Returns everything but plain functions unchanged. */
  readonly handler = (mark: string, handler: unknown): unknown => {
    if (!isPlainFunction(handler)) return handler
    const { caught } = this
    // The frame is removed from recorded stacks by this name.
    return function faultboardHandler(this: unknown, ...values: unknown[]) {
      if (values.length === 1) caught(values[0], mark)
      return Reflect.apply(handler, this, values)
    }
  }

  /** Counts an error and its causes as reported. */
  reported(value: unknown): void {
    try {
      this.#reported(this.#seen.get(value) ?? this.#raise(value, null, null))
      for (const cause of collectCauses(value)) this.#reported(this.#seen.get(cause))
    } catch {
      // Recording the error must continue.
    }
  }

  /** A catch block that throws another error did not swallow the caught error. */
  #replaced([mark, caught]: readonly [string, unknown], value: unknown): void {
    this.#revokeRescue(this.#seen.get(caught))
    this.#thrown(this.#sites.forMark(mark), value)
  }

  #thrown(site: CountedSite, value: unknown): void {
    const sighting = this.#seen.get(value)
    if (sighting ? !isRaisedAgain(site, sighting) : site.kind === 'rethrow') {
      this.#revokeRescue(sighting)
      return
    }
    this.#raise(value, site, site.location)
    if (!sighting) for (const cause of collectCauses(value)) this.#revokeRescue(this.#seen.get(cause))
  }

  #caught(site: CountedSite, value: unknown): void {
    const sighting =
      this.#seen.get(value) ?? (isProbablyError(site, value) ? this.#raise(value, null, site.location) : null)
    if (!sighting || sighting.isReported) return
    const rescue = rescuesAt(sighting.tally, site)
    if (sighting.rescue === rescue) return
    this.#revokeRescue(sighting)
    rescue.count++
    sighting.rescue = rescue
    this.#open.touch(sighting.tally)
  }

  #reported(sighting: Sighting | null | undefined): void {
    if (!sighting || sighting.isReported) return
    this.#revokeRescue(sighting)
    sighting.isReported = true
    sighting.tally.reported++
    this.#open.touch(sighting.tally)
  }

  #revokeRescue(sighting: Sighting | undefined): void {
    if (!sighting?.rescue) return
    sighting.rescue.count--
    sighting.rescue = null
    this.#open.touch(sighting.tally)
  }

  /**
   * Counts an error as raised at its `throw`, at the location in its stack, or below the handler that caught it.
   * Returns null for errors that are not counted.
   */
  #raise(value: unknown, site: CountedSite | null, handlerLocation: string | null): Sighting | null {
    const type = errorType(value)
    if (this.#ignoredTypes.has(type) || IGNORED_CODES.has(errorCode(value))) return null
    const raiseLocation =
      site?.location ?? this.#locate(value) ?? (handlerLocation === null ? null : `~${handlerLocation}`)
    if (raiseLocation === null) return null
    const tallies = site?.tallies ?? this.#sites.talliesAt(raiseLocation, this.#open.limit)
    const tally = currentTally(tallies, { hour: startOfHour(this.#options.now()), errorType: type, raiseLocation })
    tally.raised++
    this.#open.touch(tally)
    const sighting: Sighting = { tally, thrownAt: site?.location ?? null, rescue: null, isReported: false }
    this.#seen.set(value, sighting)
    return sighting
  }

  #locate(value: unknown): string | null {
    if (!isObject(value) || types.isProxy(value) || !hasRoomToRecord()) return null
    const second = Math.trunc(performance.now() / 1000)
    if (this.#stackReads.second !== second) this.#stackReads = { second, count: 0 }
    return this.#stackReads.count++ < MAX_STACKS_PER_SECOND ? this.#options.locate(value) : null
  }
}

/**
 * Decides whether a `throw` of a known error raises it again or only passes it on. A constant is raised again once it
 * was rescued or reported. An error stored in a variable is raised again only by the `throw` that raised it before.
 */
function isRaisedAgain({ kind, location }: CountedSite, { rescue, isReported, thrownAt }: Sighting): boolean {
  if (kind === 'rethrow' || (rescue === null && !isReported)) return false
  return kind === 'constant' || kind === 'new' || location === thrownAt
}

function rescuesAt({ rescues }: Tally, { location, kind }: CountedSite): Rescues {
  let rescue = rescues.get(location)
  if (!rescue) {
    rescue = { location, handlerKind: kind, count: 0 }
    rescues.set(location, rescue)
  }
  return rescue
}

/** Filters values passed to `catch` and `then` methods of objects that are not promises. */
function isProbablyError({ isPromiseHandler }: CountedSite, value: unknown): boolean {
  return !isPromiseHandler || typeof value === 'string' || types.isNativeError(value) || isErrorInstance(value)
}

function isErrorInstance(value: unknown): boolean {
  return isObject(value) && !types.isProxy(value) && (value instanceof Error || value instanceof DOMException)
}

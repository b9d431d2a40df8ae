import { types } from 'node:util'
import { hourOf } from '../../model/time.js'
import { behind, codeOf, typeOf } from './error-parts.js'
import { OpenTallies } from './open-tallies.js'
import { type Site, siteOf } from './site.js'
import type { Rescues, Tally, TallyRow } from './tally.js'

/** A marked place, and what was counted there this hour by type. */
interface Place extends Site {
  tallies: Map<string, Tally>
  /** What was caught there last. */
  last: Sighting | null
}

/** What is known of one error while it is alive. */
interface Sighting {
  tally: Tally
  /** Where it was thrown, if that was seen. */
  thrown_at: string | null
  /** What would have to be taken back, should it turn out not to be swallowed. */
  rescue: Rescues | null
  reported: boolean
}

export interface LedgerOptions {
  now(): number
  /** The place in the host's code that an error comes from, by its stack; null where that does not tell. */
  locate(error: object): string | null
  max_tallies: number
}

/** Control flow and the weather of a network, which everybody catches and nobody reports. */
const IGNORED_TYPES = ['AbortError']
const IGNORED_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
const TYPES_PER_PLACE = 50
const VALUES = 100
const LONGEST_VALUE = 200
/** Stacks that are read in a second: V8 writes one only when it is asked for, which takes longer than all the rest. */
const STACKS_PER_SECOND = 200

/**
 * What was raised, caught and reported. An error is known by its identity, so that one that is thrown again, wrapped as a
 * cause or reported later is no longer counted as swallowed. Nothing here throws, and nothing holds on to an error.
 */
export class Ledger {
  readonly #places = new Map<string, Place>()
  readonly #catches = new Map<string, Place>()
  /** Of errors whose throw was not seen, by where their stacks lead. */
  readonly #elsewhere = new Map<string, Map<string, Tally>>()
  readonly #sightings = new WeakMap<object, Sighting>()
  /** Of what is no object: the newest of those that were thrown under the same value. */
  readonly #values = new Map<unknown, Sighting>()
  readonly #open: OpenTallies
  readonly #options: LedgerOptions
  #ignored: ReadonlySet<string> = new Set(IGNORED_TYPES)
  #stacks = { second: 0, read: 0 }

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#open = new OpenTallies(options.max_tallies)
  }

  /** From here on by these settings. */
  configure({ max_tallies, ignored, ...options }: LedgerOptions & { ignored: readonly string[] }): void {
    Object.assign(this.#options, options)
    this.#open.limit = max_tallies
    this.#ignored = new Set([...IGNORED_TYPES, ...ignored])
  }

  /** How many tallies have something to write. */
  get size(): number {
    return this.#open.size
  }

  take(): { rows: TallyRow[]; lost: number } {
    return this.#open.take()
  }

  /** For `throw`: gives the value back. */
  readonly thrown = (mark: string, value: unknown): unknown => {
    try {
      this.#thrown(this.#place(mark), value)
    } catch {
      // As everywhere here: a getter of the host that threw, a revoked Proxy. One error less is counted.
    }
    return value
  }

  /** For `catch` and the functions that promises call. */
  readonly caught = (value: unknown, mark: string): void => {
    try {
      this.#caught(this.#place(mark), value)
    } catch {
      // The host's own handler goes on.
    }
  }

  /** For a handler that is only named: a function that does the same, and anything else as it is. */
  readonly handler = (mark: string, handler: unknown): unknown => {
    if (typeof handler !== 'function') return handler
    const { caught } = this
    // By its name, its frame is taken out of the stacks that are recorded.
    return function faultboardHandler(this: unknown, ...values: unknown[]) {
      if (values.length === 1) caught(values[0], mark)
      return Reflect.apply(handler, this, values)
    }
  }

  /** It was told to somebody, and with it what it was caused by. */
  reported(value: unknown): void {
    try {
      this.#reported(this.#known(value) ?? this.#raise(value, null, null))
      for (const cause of behind(value)) this.#reported(this.#known(cause))
    } catch {
      // It is recorded all the same.
    }
  }

  #thrown(place: Place, value: unknown): void {
    const known = this.#known(value)
    // Whatever a catch block throws, it has not swallowed what it caught.
    if (place.inside !== null) this.#takeBack(this.#catches.get(place.inside)?.last)
    if (known ? !isAnew(place, known) : place.kind === 'rethrow') {
      this.#takeBack(known)
      return
    }
    this.#raise(value, place, place.location)
    if (!known) for (const cause of behind(value)) this.#takeBack(this.#known(cause))
  }

  #caught(place: Place, value: unknown): void {
    place.last = null
    const sighting = this.#known(value) ?? (isLikely(place, value) ? this.#raise(value, null, place.location) : null)
    if (!sighting || sighting.reported) return
    const rescue = rescueIn(sighting.tally, place)
    if (sighting.rescue === rescue) return
    this.#takeBack(sighting)
    rescue.count++
    sighting.rescue = rescue
    place.last = sighting
    this.#open.touch(sighting.tally)
  }

  #reported(sighting: Sighting | null | undefined): void {
    if (!sighting || sighting.reported) return
    this.#takeBack(sighting)
    sighting.reported = true
    sighting.tally.reported++
    this.#open.touch(sighting.tally)
  }

  #takeBack(sighting: Sighting | null | undefined): void {
    if (!sighting?.rescue) return
    sighting.rescue.count--
    sighting.rescue = null
    this.#open.touch(sighting.tally)
  }

  /** Counts it as raised, where it was thrown or else where its stack leads; null for what is not counted at all. */
  #raise(value: unknown, place: Place | null, below: string | null): Sighting | null {
    const error_type = typeOf(value)
    if (this.#ignored.has(error_type) || IGNORED_CODES.has(codeOf(value))) return null
    const location = place?.location ?? this.#locate(value) ?? (below === null ? null : `~${below}`)
    if (location === null) return null
    const tally = this.#tally(place?.tallies ?? this.#talliesAt(location), error_type, location)
    tally.raised++
    this.#open.touch(tally)
    const sighting: Sighting = { tally, thrown_at: place?.location ?? null, rescue: null, reported: false }
    this.#remember(value, sighting)
    return sighting
  }

  #locate(value: unknown): string | null {
    if (!isObject(value) || types.isProxy(value)) return null
    const second = Math.trunc(performance.now() / 1000)
    if (this.#stacks.second !== second) this.#stacks = { second, read: 0 }
    return this.#stacks.read++ < STACKS_PER_SECOND ? this.#options.locate(value) : null
  }

  #tally(tallies: Map<string, Tally>, error_type: string, raise_location: string): Tally {
    const hour = hourOf(this.#options.now())
    const known = tallies.get(error_type)
    if (known?.hour === hour) return known
    if (tallies.size >= TYPES_PER_PLACE) tallies.clear()
    const made: Tally = { hour, error_type, raise_location, raised: 0, reported: 0, rescues: new Map() }
    tallies.set(error_type, made)
    return made
  }

  #talliesAt(location: string): Map<string, Tally> {
    let tallies = this.#elsewhere.get(location)
    if (!tallies) {
      tallies = new Map()
      if (this.#elsewhere.size >= this.#open.limit) this.#elsewhere.clear()
      this.#elsewhere.set(location, tallies)
    }
    return tallies
  }

  #place(mark: string): Place {
    let place = this.#places.get(mark)
    if (!place) {
      place = { ...siteOf(mark), tallies: new Map(), last: null }
      this.#places.set(mark, place)
      this.#catches.set(place.location, place)
    }
    return place
  }

  #known(value: unknown): Sighting | undefined {
    return isObject(value) ? this.#sightings.get(value) : this.#values.get(value)
  }

  #remember(value: unknown, sighting: Sighting): void {
    if (isObject(value)) {
      this.#sightings.set(value, sighting)
      return
    }
    if (typeof value === 'string' && value.length > LONGEST_VALUE) return
    this.#values.delete(value)
    this.#values.set(value, sighting)
    if (this.#values.size > VALUES) for (const [oldest] of this.#values) return void this.#values.delete(oldest)
  }
}

/**
 * Whether an error that is known is raised once more. A constant that was dealt with is; one that was kept in a variable
 * goes on its way, unless it is thrown where it was thrown before. What is no object is the same whenever it is equal.
 */
function isAnew({ kind, location }: Place, { rescue, reported, thrown_at }: Sighting): boolean {
  if (kind === 'rethrow' || (rescue === null && !reported)) return false
  return kind === 'constant' || kind === 'made' || location === thrown_at
}

function rescueIn({ rescues }: Tally, { location, kind }: Place): Rescues {
  let rescue = rescues.get(location)
  if (!rescue) {
    rescue = { rescue_location: location, handler_kind: kind, count: 0 }
    rescues.set(location, rescue)
  }
  return rescue
}

/** Other things than promises have a `catch` and a `then`, which hand over other things than errors. */
function isLikely({ inside }: Site, value: unknown): boolean {
  return inside !== 'promise' || typeof value === 'string' || types.isNativeError(value) || isErrorLike(value)
}

function isErrorLike(value: unknown): boolean {
  return isObject(value) && !types.isProxy(value) && (value instanceof Error || value instanceof DOMException)
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

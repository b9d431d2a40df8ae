import { types } from 'node:util'
import { hasRoomToNote, hasRoomToRecord, prepareStackProbes } from '../../../capture/guards/stack-room.js'
import { isObject } from '../../../capture/values/is-object.js'
import { hourOf } from '../../../model/time.js'
import { behind, codeOf, typeOf } from './error-parts.js'
import { OpenTallies } from './open-tallies.js'
import { type Place, Places, tallyIn } from './places.js'
import { isPlainFunction } from './plain-function.js'
import { SeenErrors, type Sighting } from './sighting.js'
import type { Rescues, Tally, TallyRow } from './tally.js'

export interface LedgerOptions {
  now(): number
  /** The place in the host's code that an error comes from, by its stack; null where that does not tell. */
  locate(error: object): string | null
  max_tallies: number
}

/** What the mark of a `throw` says: its text, and in a catch block what that has caught. */
export type ThrowMark = string | readonly [mark: string, caught: unknown]

const REHEARSED = ''

/** Control flow and the weather of a network, which everybody catches and nobody reports. */
const IGNORED_TYPES = ['AbortError']
const IGNORED_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
/** Stacks that are read in a second: V8 writes one only when it is asked for, which takes longer than all the rest. */
const STACKS_PER_SECOND = 200

/**
 * What was raised, caught and reported. An error is known by its identity, so that one that is thrown again, replaced,
 * wrapped as a cause or reported later is no longer counted as swallowed: each of them takes back what its catch has
 * counted. Nothing here throws, and nothing holds on to an error.
 */
export class Ledger {
  readonly #places = new Places()
  readonly #seen = new SeenErrors()
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

  /** Compiles what a `throw` calls: near the end of the stack, V8 has no room for that. */
  rehearse(): void {
    prepareStackProbes()
    this.thrown(REHEARSED, undefined)
  }

  /** For `throw`: gives the value back. */
  readonly thrown = (mark: ThrowMark, value: unknown): unknown => {
    try {
      if (mark === REHEARSED || !hasRoomToNote()) return value
      if (typeof mark === 'string') this.#thrown(this.#places.of(mark), value)
      else this.#thrownInstead(mark, value)
    } catch {
      // As everywhere here: something of the host that cannot be looked at. One error less is counted.
    }
    return value
  }

  /** For `catch` and the functions that promises call. */
  readonly caught = (value: unknown, mark: string): void => {
    try {
      if (hasRoomToNote()) this.#caught(this.#places.of(mark), value)
    } catch {
      // The host's own handler goes on.
    }
  }

  /** For a handler that is only named: a function that does the same, and anything else as it is. */
  readonly handler = (mark: string, handler: unknown): unknown => {
    if (!isPlainFunction(handler)) return handler
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
      this.#reported(this.#seen.get(value) ?? this.#raise(value, null, null))
      for (const cause of behind(value)) this.#reported(this.#seen.get(cause))
    } catch {
      // It is recorded all the same.
    }
  }

  /** Whatever a catch block throws, it has not swallowed what it caught. */
  #thrownInstead([mark, caught]: readonly [string, unknown], value: unknown): void {
    this.#takeBack(this.#seen.get(caught))
    this.#thrown(this.#places.of(mark), value)
  }

  #thrown(place: Place, value: unknown): void {
    const known = this.#seen.get(value)
    if (known ? !isAnew(place, known) : place.kind === 'rethrow') {
      this.#takeBack(known)
      return
    }
    this.#raise(value, place, place.location)
    if (!known) for (const cause of behind(value)) this.#takeBack(this.#seen.get(cause))
  }

  #caught(place: Place, value: unknown): void {
    const sighting = this.#seen.get(value) ?? (isLikely(place, value) ? this.#raise(value, null, place.location) : null)
    if (!sighting || sighting.reported) return
    const rescue = rescueIn(sighting.tally, place)
    if (sighting.rescue === rescue) return
    this.#takeBack(sighting)
    rescue.count++
    sighting.rescue = rescue
    this.#open.touch(sighting.tally)
  }

  #reported(sighting: Sighting | null | undefined): void {
    if (!sighting || sighting.reported) return
    this.#takeBack(sighting)
    sighting.reported = true
    sighting.tally.reported++
    this.#open.touch(sighting.tally)
  }

  #takeBack(sighting: Sighting | undefined): void {
    if (!sighting?.rescue) return
    sighting.rescue.count--
    sighting.rescue = null
    this.#open.touch(sighting.tally)
  }

  /** Counts it as raised, where it was thrown or else where its stack leads; null for what is not counted at all. */
  #raise(value: unknown, place: Place | null, below: string | null): Sighting | null {
    const error_type = typeOf(value)
    if (this.#ignored.has(error_type) || IGNORED_CODES.has(codeOf(value))) return null
    const raise_location = place?.location ?? this.#locate(value) ?? (below === null ? null : `~${below}`)
    if (raise_location === null) return null
    const tallies = place?.tallies ?? this.#places.talliesAt(raise_location, this.#open.limit)
    const tally = tallyIn(tallies, { hour: hourOf(this.#options.now()), error_type, raise_location })
    tally.raised++
    this.#open.touch(tally)
    const sighting: Sighting = { tally, thrown_at: place?.location ?? null, rescue: null, reported: false }
    this.#seen.set(value, sighting)
    return sighting
  }

  #locate(value: unknown): string | null {
    if (!isObject(value) || types.isProxy(value) || !hasRoomToRecord()) return null
    const second = Math.trunc(performance.now() / 1000)
    if (this.#stacks.second !== second) this.#stacks = { second, read: 0 }
    return this.#stacks.read++ < STACKS_PER_SECOND ? this.#options.locate(value) : null
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
function isLikely({ of_promise }: Place, value: unknown): boolean {
  return !of_promise || typeof value === 'string' || types.isNativeError(value) || isErrorLike(value)
}

function isErrorLike(value: unknown): boolean {
  return isObject(value) && !types.isProxy(value) && (value instanceof Error || value instanceof DOMException)
}

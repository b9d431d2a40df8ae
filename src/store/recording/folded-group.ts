import { hash } from 'node:crypto'
import { DEFAULT_ENVIRONMENT, environmentName } from '../../model/environment.js'
import type { Cause, ErrorEvent } from '../../model/event.js'
import { moreSevere, type Severity } from '../../model/severity/severity.js'
import { startOfHour } from '../../model/time.js'

/** Occurrences of one hour and dimension. */
export interface HourSum {
  hour: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

export interface UserSum {
  user_id: string
  count: number
  first_seen_at: number
  last_seen_at: number
}

/** Event with an id from its client, with the values needed to subtract it from the sums if it is a duplicate. */
export interface IdentifiedEvent
  extends Pick<ErrorEvent, 'occurred_at' | 'severity' | 'platform' | 'app_version' | 'user_id'> {
  event_digest: string
  /** Number of earlier events in the group. */
  position: number
}

/** Identifies a group within its application. Sorts by signature, which is the lock order of all writers. */
export function groupKey({ hash_signature, environment }: { hash_signature: string; environment: string }): string {
  return `${hash_signature}\n${environment}`
}

/** Unwritten repeats of one signature in one environment: sums for all of them, rows for the newest. */
export class FoldedGroup {
  readonly hash_signature: string
  readonly environment: string
  readonly key: string
  oldest: ErrorEvent
  newest: ErrorEvent
  /** Newest event that gets a row. The error page shows its message, backtrace and request. */
  shown: ErrorEvent
  count = 0
  /** Events that get a row, at most as many as the error keeps. */
  kept: ErrorEvent[] = []
  /** Estimated memory of the kept events. Zero for a group that was read from the spool. */
  bytes = 0
  readonly hours = new Map<string, HourSum>()
  readonly users = new Map<string, UserSum>()
  /** Commits of all events, including events without a row. */
  readonly commits = new Set<string>()
  identified: IdentifiedEvent[] = []
  #hour: HourSum | null = null

  constructor(first: ErrorEvent) {
    this.hash_signature = first.hash_signature
    this.environment = first.environment
    this.key = groupKey(first)
    this.oldest = first
    this.newest = first
    this.shown = first
  }

  add(event: ErrorEvent, keep: number): void {
    // Repeats from the same location share one backtrace array.
    this.bytes += estimateEventBytes(event, this.count > 0 && event.backtrace === this.newest.backtrace)
    if (event.event_digest !== undefined) this.#addIdentified(event, event.event_digest)
    this.count++
    if (event.occurred_at >= this.newest.occurred_at) this.newest = event
    if (event.occurred_at < this.oldest.occurred_at) this.oldest = event
    if (!event.counted_only || this.kept.length === 0) {
      this.kept.push(event)
      if (event.occurred_at >= this.shown.occurred_at) this.shown = event
    }
    // Trimming at twice the limit avoids one array copy per event during a storm.
    if (this.kept.length >= keep * 2) this.trimKeptEvents(keep)
    this.#addHour(event)
    this.#addUser(event)
    if (event.git_sha !== null) this.commits.add(event.git_sha)
  }

  /** Highest severity of all events, including events without a row. */
  get severity(): Severity {
    let highest = this.newest.severity
    for (const { severity } of this.hours.values()) highest = moreSevere(highest, severity)
    return highest
  }

  /** Keeps rows for the newest events only. The sums stay exact. */
  trimKeptEvents(keep: number): void {
    if (this.kept.length <= keep) return
    this.bytes = Math.round((this.bytes * keep) / this.kept.length)
    this.kept = this.kept.slice(-keep)
    // Events can arrive out of order, so the newest event may be among the removed events.
    if (!this.kept.includes(this.shown)) this.kept[0] = this.shown
  }

  toJSON(): FoldedGroupJson {
    const { count, kept, identified } = this
    const backtraces: (readonly string[])[] = []
    const indexes = new Map<readonly string[], number>()
    const pack = (event: ErrorEvent): PackedEvent => {
      let backtrace = indexes.get(event.backtrace)
      if (backtrace === undefined) {
        backtrace = backtraces.push(event.backtrace) - 1
        indexes.set(event.backtrace, backtrace)
      }
      return { ...event, backtrace }
    }
    const packedOrIndex = (event: ErrorEvent) => {
      const index = kept.indexOf(event)
      return index < 0 ? pack(event) : index
    }
    return {
      ...{ oldest: packedOrIndex(this.oldest), newest: packedOrIndex(this.newest), count, kept: kept.map(pack) },
      ...{ backtraces, hours: [...this.hours.values()], users: [...this.users.values()] },
      ...(this.commits.size > 0 ? { commits: [...this.commits] } : {}),
      ...(identified.length > 0 ? { numbered: identified } : {}),
    }
  }

  static fromJSON(json: FoldedGroupJson): FoldedGroup {
    const { count, backtraces, hours, users, numbered = [] } = json
    if (!Number.isSafeInteger(count) || !Array.isArray(json.kept)) throw new TypeError('not a folded group')
    const unpack = (event: PackedEvent) => {
      if (typeof event.backtrace === 'number') event.backtrace = backtraces?.[event.backtrace] ?? []
      event.environment ??= environmentName(event.context.environment) ?? DEFAULT_ENVIRONMENT
      return event as ErrorEvent
    }
    const kept = json.kept.map(unpack)
    const unpackOrFind = (eventOrIndex: PackedEvent | number) => {
      const event = typeof eventOrIndex === 'number' ? kept[eventOrIndex] : unpack(eventOrIndex)
      if (!event) throw new TypeError('not a folded group')
      return event
    }
    const newest = unpackOrFind(json.newest)
    const group = new FoldedGroup(unpackOrFind(json.oldest))
    group.newest = newest
    group.count = count
    group.kept = kept
    group.shown = kept.reduce(
      (latest, event) => (event.occurred_at >= latest.occurred_at ? event : latest),
      kept[0] ?? newest,
    )
    group.identified = numbered
    for (const sum of hours) group.hours.set(hourKey(sum), sum)
    for (const sum of users) group.users.set(sum.user_id, sum)
    for (const commit of json.commits ?? kept.flatMap(({ git_sha }) => git_sha ?? [])) group.commits.add(commit)
    return group
  }

  #addIdentified({ occurred_at, severity, platform, app_version, user_id }: ErrorEvent, event_digest: string): void {
    this.bytes += IDENTIFIED_BYTES
    const position = this.count
    this.identified.push({ event_digest, position, occurred_at, severity, platform, app_version, user_id })
  }

  #addHour({ occurred_at, severity, platform, app_version }: ErrorEvent): void {
    const hour = startOfHour(occurred_at)
    const version = app_version ?? ''
    const last = this.#hour
    // Consecutive repeats nearly always have the same hour and version.
    if (
      last?.hour === hour &&
      last.severity === severity &&
      last.platform === platform &&
      last.app_version === version
    ) {
      last.count++
      return
    }
    const sum = { hour, severity, platform, app_version: version, count: 1 }
    const key = hourKey(sum)
    const known = this.hours.get(key)
    if (known) known.count++
    else this.hours.set(key, sum)
    this.#hour = known ?? sum
  }

  #addUser({ user_id, occurred_at }: ErrorEvent): void {
    if (user_id === null) return
    const known = this.users.get(user_id)
    if (!known) {
      this.users.set(user_id, { user_id, count: 1, first_seen_at: occurred_at, last_seen_at: occurred_at })
      return
    }
    known.count++
    known.first_seen_at = Math.min(known.first_seen_at, occurred_at)
    known.last_seen_at = Math.max(known.last_seen_at, occurred_at)
  }
}

/**
 * Event whose backtrace is an index into the backtraces of its group. Version 0.4.0 stored the backtrace itself, and the
 * environment in the context.
 */
type PackedEvent = Omit<ErrorEvent, 'backtrace'> & { backtrace: readonly string[] | number }

/**
 * Spool format of a group. Repeats share most of their text, so each event and backtrace is stored once: `oldest` and
 * `newest` are indexes into `kept` if it contains the event. `numbered` keeps its name because older versions read it.
 */
export interface FoldedGroupJson {
  oldest: PackedEvent | number
  newest: PackedEvent | number
  count: number
  kept: readonly PackedEvent[]
  backtraces?: readonly (readonly string[])[]
  hours: readonly HourSum[]
  users: readonly UserSum[]
  /** Absent without commits, and in files of 0.4.0. */
  commits?: readonly string[]
  numbered?: IdentifiedEvent[]
}

export interface Payload {
  digest: string
  content: string
}

const payloads = new WeakMap<readonly string[], Payload & Pick<ErrorEvent, 'signature_place'>>()

/**
 * Serializes backtrace and causes. Events from the same location share one backtrace array, so the text and digest are
 * computed once instead of once per repeat.
 */
export function storedPayload(event: Pick<ErrorEvent, 'backtrace' | 'causes' | 'signature_place'>): Payload {
  const { backtrace, causes, signature_place } = event
  const known = causes.length === 0 ? payloads.get(backtrace) : undefined
  if (known && isSamePlace(known.signature_place, signature_place)) return known
  const content = JSON.stringify({ backtrace, causes, signature_place })
  const payload = { content, digest: hash('sha256', content), signature_place }
  if (causes.length === 0) payloads.set(backtrace, payload)
  return payload
}

/** Compares the lines too, because every event from the spool has its own array. */
function isSamePlace(a: ErrorEvent['signature_place'], b: ErrorEvent['signature_place']): boolean {
  if (a === b) return true
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((line, i) => line === b[i])
}

/** Typical size of an event with its short texts. */
const EVENT_BYTES = 400
/** Typical size of one backtrace line. */
const LINE_BYTES = 100
const IDENTIFIED_BYTES = 200
const VALUE_BYTES = 16

/** Estimates the memory of an event. Runs for every event, so speed matters more than precision. */
function estimateEventBytes(event: ErrorEvent, sharesBacktrace: boolean): number {
  const { message, request_url, user_agent, backtrace, causes, context } = event
  const texts = message.length + (request_url?.length ?? 0) + (user_agent?.length ?? 0)
  const lines = sharesBacktrace ? 0 : backtrace.length * LINE_BYTES
  return EVENT_BYTES + texts + lines + estimateCauseBytes(causes) + estimateValueBytes(context)
}

function estimateCauseBytes(causes: readonly Cause[]): number {
  let bytes = 0
  for (const { message, backtrace, causes: inner } of causes) {
    bytes += EVENT_BYTES + message.length + backtrace.length * LINE_BYTES + (inner ? estimateCauseBytes(inner) : 0)
  }
  return bytes
}

/** Recursion is safe: capture limits the depth and size of plain values. */
function estimateValueBytes(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  let bytes = VALUE_BYTES
  for (const key in value) bytes += key.length + estimateValueBytes((value as Record<string, unknown>)[key])
  return bytes
}

export function hourKey({ hour, severity, platform, app_version }: Omit<HourSum, 'count'>): string {
  return `${hour}\n${severity}\n${platform}\n${app_version}`
}

export function countOccurrences(groups: readonly FoldedGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0)
}

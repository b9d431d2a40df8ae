import { createHash } from 'node:crypto'
import type { Cause, ErrorEvent } from '../../model/event.js'
import { moreSevere, type Severity } from '../../model/severity.js'
import { hourOf } from '../../model/time.js'

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

/** An event that its client numbered: what takes it out of the sums again, should it have been counted before. */
export interface NumberedEvent
  extends Pick<ErrorEvent, 'occurred_at' | 'severity' | 'platform' | 'app_version' | 'user_id'> {
  event_digest: string
  /** How many events of the group came before it. */
  position: number
}

/** The repeats of one signature, gathered before they are written: sums for all of them, rows for the newest. */
export class FoldedGroup {
  readonly hash_signature: string
  oldest: ErrorEvent
  newest: ErrorEvent
  /** The newest event with a row of its own: the error shows its message and place beside its backtrace and request. */
  shown: ErrorEvent
  count = 0
  /** The events that get a row of their own; only so many as would be kept anyway. */
  kept: ErrorEvent[] = []
  /** About what the kept events take in memory; not known of a group that was read from the spool. */
  bytes = 0
  readonly hours = new Map<string, HourSum>()
  readonly users = new Map<string, UserSum>()
  numbered: NumberedEvent[] = []
  #hour: HourSum | null = null

  constructor(first: ErrorEvent) {
    this.hash_signature = first.hash_signature
    this.oldest = first
    this.newest = first
    this.shown = first
  }

  add(event: ErrorEvent, keep: number): void {
    // Repeats from one place share one backtrace.
    this.bytes += bytesOf(event, this.count > 0 && event.backtrace === this.newest.backtrace)
    if (event.event_digest !== undefined) this.#number(event, event.event_digest)
    this.count++
    if (event.occurred_at >= this.newest.occurred_at) this.newest = event
    if (event.occurred_at < this.oldest.occurred_at) this.oldest = event
    if (!event.counted_only || this.kept.length === 0) {
      this.kept.push(event)
      if (event.occurred_at >= this.shown.occurred_at) this.shown = event
    }
    // Cutting at twice the number makes it one copy every so often rather than one per event of a storm.
    if (this.kept.length >= keep * 2) this.thin(keep)
    this.#addHour(event)
    this.#addUser(event)
  }

  /** The highest severity of all events, with a row or without. */
  get severity(): Severity {
    let highest = this.newest.severity
    for (const { severity } of this.hours.values()) highest = moreSevere(highest, severity)
    return highest
  }

  /** Keeps rows for the newest events only; every sum stays exact. */
  thin(keep: number): void {
    if (this.kept.length <= keep) return
    this.bytes = Math.round((this.bytes * keep) / this.kept.length)
    this.kept = this.kept.slice(-keep)
    // An event that came late may be newer than all that came after it.
    if (!this.kept.includes(this.shown)) this.kept[0] = this.shown
  }

  toJSON(): FoldedGroupJson {
    const { count, kept, numbered } = this
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
      ...(numbered.length > 0 ? { numbered } : {}),
    }
  }

  static fromJSON(json: FoldedGroupJson): FoldedGroup {
    const { count, backtraces, hours, users, numbered = [] } = json
    if (!Number.isSafeInteger(count) || !Array.isArray(json.kept)) throw new TypeError('not a folded group')
    const unpack = (event: PackedEvent) => {
      if (typeof event.backtrace === 'number') event.backtrace = backtraces?.[event.backtrace] ?? []
      return event as ErrorEvent
    }
    const kept = json.kept.map(unpack)
    const eventAt = (place: PackedEvent | number) => {
      const event = typeof place === 'number' ? kept[place] : unpack(place)
      if (!event) throw new TypeError('not a folded group')
      return event
    }
    const newest = eventAt(json.newest)
    const group = new FoldedGroup(eventAt(json.oldest))
    group.newest = newest
    group.count = count
    group.kept = kept
    group.shown = kept.reduce(
      (latest, event) => (event.occurred_at >= latest.occurred_at ? event : latest),
      kept[0] ?? newest,
    )
    group.numbered = numbered
    for (const sum of hours) group.hours.set(hourKey(sum), sum)
    for (const sum of users) group.users.set(sum.user_id, sum)
    return group
  }

  #number({ occurred_at, severity, platform, app_version, user_id }: ErrorEvent, event_digest: string): void {
    this.bytes += NUMBERED_BYTES
    const position = this.count
    this.numbered.push({ event_digest, position, occurred_at, severity, platform, app_version, user_id })
  }

  #addHour({ occurred_at, severity, platform, app_version }: ErrorEvent): void {
    const hour = hourOf(occurred_at)
    const version = app_version ?? ''
    const last = this.#hour
    // Repeats come one after the other, nearly always in the hour and from the version of the one before.
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

/** An event whose backtrace is an index into the backtraces of its group. Version 0.4.0 stored the backtrace itself. */
type PackedEvent = Omit<ErrorEvent, 'backtrace'> & { backtrace: readonly string[] | number }

/**
 * A group as the spool stores it. Repeats share most of their text, so each event and backtrace is stored once: `oldest`
 * and `newest` are indexes into `kept` if the event is in there.
 */
export interface FoldedGroupJson {
  oldest: PackedEvent | number
  newest: PackedEvent | number
  count: number
  kept: readonly PackedEvent[]
  backtraces?: readonly (readonly string[])[]
  hours: readonly HourSum[]
  users: readonly UserSum[]
  numbered?: NumberedEvent[]
}

export interface Payload {
  digest: string
  content: string
}

const payloads = new WeakMap<readonly string[], Payload & Pick<ErrorEvent, 'signature_place'>>()

/**
 * Backtrace and causes as they are stored. Events of one place share one backtrace array, so that its text and digest
 * are made once, not once per repeat.
 */
export function payloadOf(event: Pick<ErrorEvent, 'backtrace' | 'causes' | 'signature_place'>): Payload {
  const { backtrace, causes, signature_place } = event
  const known = causes.length === 0 ? payloads.get(backtrace) : undefined
  if (known && known.signature_place === signature_place) return known
  const content = JSON.stringify({ backtrace, causes, signature_place })
  const payload = { content, digest: createHash('sha256').update(content).digest('hex'), signature_place }
  if (causes.length === 0) payloads.set(backtrace, payload)
  return payload
}

/** The object itself with its short texts, and what one line of a backtrace takes. */
const EVENT_BYTES = 400
const LINE_BYTES = 100
const NUMBERED_BYTES = 200
const VALUE_BYTES = 16

/** A rough sum: it is made for every event, and only has to tell a few hundred bytes from many thousands. */
function bytesOf(event: ErrorEvent, shares_backtrace: boolean): number {
  const { message, request_url, user_agent, backtrace, causes, context } = event
  const texts = message.length + (request_url?.length ?? 0) + (user_agent?.length ?? 0)
  const lines = shares_backtrace ? 0 : backtrace.length * LINE_BYTES
  return EVENT_BYTES + texts + lines + bytesOfCauses(causes) + bytesOfValue(context)
}

function bytesOfCauses(causes: readonly Cause[]): number {
  let bytes = 0
  for (const { message, backtrace, causes: inner } of causes) {
    bytes += EVENT_BYTES + message.length + backtrace.length * LINE_BYTES + (inner ? bytesOfCauses(inner) : 0)
  }
  return bytes
}

/** Plain data, which the capture has bounded in depth and number. */
function bytesOfValue(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  let bytes = VALUE_BYTES
  for (const key in value) bytes += key.length + bytesOfValue((value as Record<string, unknown>)[key])
  return bytes
}

export function hourKey({ hour, severity, platform, app_version }: Omit<HourSum, 'count'>): string {
  return `${hour}\n${severity}\n${platform}\n${app_version}`
}

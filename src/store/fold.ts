import { createHash } from 'node:crypto'
import type { ErrorEvent } from '../model/event.js'
import type { Severity } from '../model/severity.js'
import { hourOf } from '../model/time.js'

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

/** The repeats of one signature, gathered before they are written: sums for all of them, rows for the newest. */
export class FoldedGroup {
  readonly hash_signature: string
  readonly first: ErrorEvent
  newest: ErrorEvent
  first_seen_at: number
  count = 0
  /** The events that get a row of their own; only so many as would be kept anyway. */
  kept: ErrorEvent[] = []
  readonly hours = new Map<string, HourSum>()
  readonly users = new Map<string, UserSum>()

  constructor(first: ErrorEvent) {
    this.hash_signature = first.hash_signature
    this.first = first
    this.newest = first
    this.first_seen_at = first.occurred_at
  }

  add(event: ErrorEvent, keep: number): void {
    this.count++
    if (event.occurred_at >= this.newest.occurred_at) this.newest = event
    if (event.occurred_at < this.first_seen_at) this.first_seen_at = event.occurred_at
    this.kept.push(event)
    // Cutting at twice the number makes it one copy every so often rather than one per event of a storm.
    if (this.kept.length >= keep * 2) this.thin(keep)
    this.#addHour(event)
    this.#addUser(event)
  }

  /** Keeps rows for the newest events only; every sum stays exact. */
  thin(keep: number): void {
    if (this.kept.length > keep) this.kept = this.kept.slice(-keep)
  }

  toJSON(): object {
    const { first, newest, first_seen_at, count, kept } = this
    return {
      first,
      newest,
      first_seen_at,
      count,
      kept,
      hours: [...this.hours.values()],
      users: [...this.users.values()],
    }
  }

  static fromJSON(json: {
    first: ErrorEvent
    newest: ErrorEvent
    first_seen_at: number
    count: number
    kept: ErrorEvent[]
    hours: HourSum[]
    users: UserSum[]
  }): FoldedGroup {
    if (!Number.isSafeInteger(json.count) || !Array.isArray(json.kept)) throw new TypeError('not a folded group')
    const group = new FoldedGroup(json.first)
    group.newest = json.newest
    group.first_seen_at = json.first_seen_at
    group.count = json.count
    group.kept = json.kept
    for (const sum of json.hours) group.hours.set(hourKey(sum), sum)
    for (const sum of json.users) group.users.set(sum.user_id, sum)
    return group
  }

  #addHour({ occurred_at, severity, platform, app_version }: ErrorEvent): void {
    const sum = { hour: hourOf(occurred_at), severity, platform, app_version: app_version ?? '', count: 1 }
    const key = hourKey(sum)
    const known = this.hours.get(key)
    if (known) known.count++
    else this.hours.set(key, sum)
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

export interface Payload {
  digest: string
  content: string
}

const payloads = new WeakMap<readonly string[], Payload>()

/**
 * Backtrace and causes as they are stored. Events of one place share one backtrace array, so that its text and digest
 * are made once, not once per repeat.
 */
export function payloadOf({ backtrace, causes }: ErrorEvent): Payload {
  const known = causes.length === 0 ? payloads.get(backtrace) : undefined
  if (known) return known
  const content = JSON.stringify({ backtrace, causes })
  const payload = { content, digest: createHash('sha256').update(content).digest('hex') }
  if (causes.length === 0) payloads.set(backtrace, payload)
  return payload
}

function hourKey({ hour, severity, platform, app_version }: HourSum): string {
  return `${hour}\n${severity}\n${platform}\n${app_version}`
}

import type { Cause, ErrorEvent } from '../../model/event.js'
import { hourOf } from '../../model/time.js'

/** A row with its index entries. */
const ROW_BYTES = 300
/** The id by which a repeated event is recognized. */
const DIGEST_BYTES = 200
/** Sums by hour, day, type and version, which a new combination of version and platform adds. */
const DIMENSION_ROWS = 5
const MAX_REMEMBERED = 20_000

/**
 * Estimates the bytes that an event adds to the database, index entries included. `rows` remembers which sums exist
 * already; an event with a new user or version adds rows even if it is only counted.
 */
export function storedBytes(event: ErrorEvent, rows: Set<string>): number {
  const { hash_signature, platform, app_version, severity, user_id } = event
  if (rows.size > MAX_REMEMBERED) rows.clear()
  let bytes = event.event_digest === undefined ? 0 : DIGEST_BYTES
  const add = (key: string, count: number) => {
    if (rows.has(key)) return
    rows.add(key)
    bytes += count * ROW_BYTES
  }
  add(`${hash_signature}\n${hourOf(event.occurred_at)}\n${severity}\n${platform}\n${app_version}`, DIMENSION_ROWS)
  if (user_id !== null) add(`${hash_signature}\n${user_id}`, 1)
  if (event.counted_only) return bytes
  // A new error keeps its message and backtrace once more for the search, with an index.
  const isNew = !rows.has(hash_signature)
  rows.add(hash_signature)
  const stack = linesBytes(event.backtrace) + causesBytes(event.causes)
  return bytes + ROW_BYTES + textBytes(event) + JSON.stringify(event.context).length + stack * (isNew ? 3 : 1)
}

function textBytes({ message, request_url, user_agent }: ErrorEvent): number {
  return message.length + (request_url?.length ?? 0) + (user_agent?.length ?? 0)
}

function linesBytes(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 4, 0)
}

function causesBytes(causes: readonly Cause[]): number {
  return causes.reduce(
    (sum, { message, backtrace, causes: inner }) =>
      sum + 100 + message.length + linesBytes(backtrace) + causesBytes(inner ?? []),
    0,
  )
}

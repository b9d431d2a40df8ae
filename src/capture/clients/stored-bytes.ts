import type { Cause, ErrorEvent } from '../../model/event.js'
import { startOfHour } from '../../model/time.js'
import { groupKey, storedPayload } from '../../store/recording/folded-group.js'

/** Estimated size of a row with its index entries. */
const ROW_BYTES = 300
/** Digest row that detects a repeated event. */
const DIGEST_BYTES = 200
/** Rollup rows (hour, day, type, version …) that a new combination of version and platform adds. */
const DIMENSION_ROWS = 5
/** A message is stored with the error, the first and newest occurrence, and the search index. */
const MESSAGE_COPIES = 4
/** A backtrace is stored once per error, and in the search table with its index. */
const STACK_COPIES = 3
const MAX_CACHED_ROWS = 20_000

/**
 * Estimates the bytes that an event adds to the database, index entries included. `rows` contains the rollup rows and
 * backtraces that already exist. An event with a new user or version adds rows even if it is only counted.
 */
export function storedBytes(event: ErrorEvent, rows: Set<string>): number {
  const { platform, app_version, severity, user_id } = event
  const group = groupKey(event)
  if (rows.size > MAX_CACHED_ROWS) rows.clear()
  let bytes = event.event_digest === undefined ? 0 : DIGEST_BYTES
  const add = (key: string, count: number) => {
    if (rows.has(key)) return
    rows.add(key)
    bytes += count
  }
  const dimensions = `${startOfHour(event.occurred_at)}\n${severity}\n${platform}\n${app_version}`
  add(`${group}\n${dimensions}`, DIMENSION_ROWS * ROW_BYTES)
  if (user_id !== null) add(`${group}\n${user_id}`, ROW_BYTES)
  const stack = backtraceBytes(event.backtrace) + causeBytes(event.causes)
  if (stack > 0) add(`${group}\n${storedPayload(event).digest}`, STACK_COPIES * stack)
  return bytes + ROW_BYTES + textBytes(event) + utf8Bytes(JSON.stringify(event.context))
}

function textBytes({ message, request_url, user_agent }: ErrorEvent): number {
  return MESSAGE_COPIES * utf8Bytes(message) + utf8Bytes(request_url ?? '') + utf8Bytes(user_agent ?? '')
}

function backtraceBytes(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + utf8Bytes(line) + 4, 0)
}

function causeBytes(causes: readonly Cause[]): number {
  return causes.reduce(
    (sum, { message, backtrace, causes: inner }) =>
      sum + 100 + utf8Bytes(message) + backtraceBytes(backtrace) + causeBytes(inner ?? []),
    0,
  )
}

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text)
}

import * as v from 'valibot'
import { TrackerError } from '../model/errors.js'
import { parseInput } from '../model/input.js'
import {
  type ApplicationLine,
  applicationLine,
  type ErrorLine,
  errorLine,
  type MoreLine,
  moreLine,
  type RecordRows,
  VERSION,
} from './record.js'

/** Parses a line, or throws `invalid_input` with the reason. */
export function readRecord(text: string): ApplicationLine | ErrorLine | MoreLine {
  const { kind, version, ...rest } = objectIn(text)
  if (version !== VERSION) {
    throw refused(
      typeof version === 'number' && version > VERSION
        ? `written by a newer version of Faultboard (format version ${version}, supported up to ${VERSION})`
        : 'not a line of an export: version is missing',
    )
  }
  switch (kind) {
    case 'application':
      return parseInput(applicationLine, { kind, ...rest }, FIRST_PROBLEM)
    case 'error':
      return consistent(parseInput(errorLine, { kind, ...rest }, FIRST_PROBLEM))
    case 'more':
      return withPayloads(parseInput(moreLine, { kind, ...rest }, FIRST_PROBLEM))
    default:
      throw refused('kind must be one of application, error, more')
  }
}

/** A hostile line can have millions of problems, and describing each would exhaust the memory. */
const FIRST_PROBLEM = { abortEarly: true }

function objectIn(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refused(`not valid JSON (${error instanceof Error ? error.message.slice(0, 100) : 'unreadable'})`)
  }
  const parsed = v.safeParse(v.record(v.string(), v.unknown()), value)
  if (!parsed.success || Array.isArray(value)) throw refused('not a JSON object')
  if (!isShallow(parsed.output, DEEPEST)) throw refused(`nested deeper than ${DEEPEST} levels`)
  return parsed.output
}

/** Deeper than any recorded data. Later code recurses without a check. */
const DEEPEST = 64

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1))
}

/** A record with inconsistent counts would leave sums that never add up. */
function consistent(line: ErrorLine): ErrorLine {
  const counted = line.hours.reduce((sum, { count }) => sum + count, 0)
  const { occurrence_count, first_seen_at, occurred_at } = line.error
  if (counted !== occurrence_count) {
    throw refused(`error.occurrence_count is ${occurrence_count}, but its hours add up to ${counted}`)
  }
  if (first_seen_at > occurred_at) throw refused('error.first_seen_at is later than error.occurred_at')
  return withPayloads(line)
}

function withPayloads<Line extends RecordRows>(line: Line): Line {
  const wrong = line.occurrences.find(({ payload }) => payload >= line.payloads.length)
  if (wrong) throw refused(`an occurrence refers to payload ${wrong.payload}, but there are ${line.payloads.length}`)
  return line
}

function refused(sentence: string): TrackerError {
  return new TrackerError('invalid_input', sentence)
}

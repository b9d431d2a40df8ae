import * as v from 'valibot'
import { DEFAULT_ENVIRONMENT, environmentName } from '../model/environment.js'
import { TrackerError } from '../model/errors.js'
import { parseInput } from '../model/input/input.js'
import {
  type ApplicationLine,
  applicationLine,
  type ErrorLine,
  type ErrorPartLine,
  errorLine,
  errorPartLine,
  FORMAT_VERSION,
  type RecordRows,
  type WrittenErrorLine,
} from './record.js'

/** Parses a line, or throws `invalid_input` with the reason. */
export function readRecord(text: string): ApplicationLine | ErrorLine | ErrorPartLine {
  const { kind, version, ...rest } = parseObject(text)
  if (version !== FORMAT_VERSION) {
    throw invalidLine(
      typeof version === 'number' && version > FORMAT_VERSION
        ? `written by a newer version of Faultboard (format version ${version}, supported up to ${FORMAT_VERSION})`
        : 'not a line of an export: version is missing',
    )
  }
  switch (kind) {
    case 'application':
      return parseInput(applicationLine, { kind, ...rest }, FIRST_PROBLEM_ONLY)
    case 'error':
      return withEnvironment(checkCounts(parseInput(errorLine, { kind, ...rest }, FIRST_PROBLEM_ONLY)))
    case 'more':
      return checkPayloads(parseInput(errorPartLine, { kind, ...rest }, FIRST_PROBLEM_ONLY))
    default:
      throw invalidLine('kind must be one of application, error, more')
  }
}

/** Reports only the first problem. A hostile line can have millions of problems, and describing all of them would exhaust memory. */
const FIRST_PROBLEM_ONLY = { abortEarly: true }

function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalidLine(`not valid JSON (${error instanceof Error ? error.message.slice(0, 100) : 'unreadable'})`)
  }
  const parsed = v.safeParse(v.record(v.string(), v.unknown()), value)
  if (!parsed.success || Array.isArray(value)) throw invalidLine('not a JSON object')
  if (!isShallow(parsed.output, MAX_DEPTH)) throw invalidLine(`nested deeper than ${MAX_DEPTH} levels`)
  return parsed.output
}

/** Deeper than any recorded data. Protects recursive code from a stack overflow. */
const MAX_DEPTH = 64

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((child) => isShallow(child, levels - 1))
}

/** Uses the environment of the newest occurrence if the line contains none, as the migration does. */
function withEnvironment(line: WrittenErrorLine): ErrorLine {
  const newest = line.occurrences.reduce<WrittenErrorLine['occurrences'][number] | undefined>(
    (latest, occurrence) => (latest && latest.occurred_at > occurrence.occurred_at ? latest : occurrence),
    undefined,
  )
  const environment =
    environmentName(line.error.environment) ?? environmentName(newest?.context?.environment) ?? DEFAULT_ENVIRONMENT
  return { ...line, error: { ...line.error, environment } }
}

/** Rejects inconsistent counts, because imported sums are never recalculated. */
function checkCounts(line: WrittenErrorLine): WrittenErrorLine {
  const total = line.hours.reduce((sum, { count }) => sum + count, 0)
  const { occurrence_count, first_seen_at, occurred_at } = line.error
  if (total !== occurrence_count) {
    throw invalidLine(`error.occurrence_count is ${occurrence_count}, but its hours add up to ${total}`)
  }
  if (first_seen_at > occurred_at) throw invalidLine('error.first_seen_at is later than error.occurred_at')
  return checkPayloads(line)
}

function checkPayloads<Line extends RecordRows>(line: Line): Line {
  const invalid = line.occurrences.find(({ payload }) => payload >= line.payloads.length)
  if (invalid)
    throw invalidLine(`an occurrence refers to payload ${invalid.payload}, but there are ${line.payloads.length}`)
  return line
}

function invalidLine(reason: string): TrackerError {
  return new TrackerError('invalid_input', reason)
}

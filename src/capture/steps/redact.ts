import { isIP } from 'node:net'
import { environmentName } from '../../model/environment.js'
import type { Cause } from '../../model/event.js'
import { acceptedNames, toCanonicalNames } from '../../model/input/spelling.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { mayContainToken } from '../../model/redaction/token-shapes.js'
import { parseFrame } from '../../model/stacks/backtrace.js'
import type { FrameSource } from '../../model/stacks/frame-source.js'
import { displayLine } from '../../model/stacks/source-line.js'
import { cleanText } from '../../model/text.js'
import type { RecordedBreadcrumb } from '../breadcrumbs/breadcrumb.js'
import type { Step } from '../draft.js'
import type { RequestFacts } from '../fields.js'
import { PARAMETER_LIMITS, type PlainLimits, plainData } from '../values/plain-data.js'
import { TEXT_LIMITS } from '../values/text-limits.js'

/** Redacts the inputs of the signature, so that messages that differ only in a secret share a group. */
export const redactTexts: Step = (draft, { redactor }) => {
  draft.error_type = redactField('error_type', draft.error_type, redactor)
  draft.message = redactField('message', draft.message, redactor)
  draft.backtrace = redactOr([], () => redactLines(draft.backtrace, redactor))
  if (draft.causes.length > 0)
    draft.causes = redactOr([], () => draft.causes.map((cause) => redactCause(cause, redactor)))
}

/**
 * Redacts everything else, and replaces live host objects with plain data. Runs after `protect`, which drops most
 * details during a storm, and before anything is buffered, queued or spooled. Fails closed: a value that cannot be
 * redacted is dropped.
 */
export const redactDetails: Step = (draft, { redactor, config }) => {
  // Redacts field by field, because access by a variable name takes a significant part of the capture time.
  draft.platform = redactField('platform', draft.platform, redactor)
  // The option itself is not redacted, because it is the same in every error.
  if (draft.environment !== config.environment) {
    const environment = redactField('environment', draft.environment, redactor)
    draft.environment = environmentName(environment) ?? config.environment
  }
  draft.place = redactOptional('place', draft.place, redactor)
  draft.app_version = redactOptional('app_version', draft.app_version, redactor)
  draft.git_sha = redactOptional('git_sha', draft.git_sha, redactor)
  draft.user_id = redactOptional('user_id', draft.user_id, redactor)
  draft.user_agent = redactOptional('user_agent', draft.user_agent, redactor)
  if (draft.ip_address !== null && isIP(draft.ip_address) === 0)
    draft.ip_address = redactField('ip_address', draft.ip_address, redactor)
  if (draft.frame_sources)
    draft.frame_sources = redactOr(null, () => redactSources(draft.frame_sources ?? [], redactor))
  const url = draft.request_url
  if (url !== null)
    draft.request_url = truncateField(
      'request_url',
      redactSafely(() => redactUrl(url, redactor)),
    )
  const isClient = draft.source !== undefined
  const limits = isClient ? CLIENT_LIMITS : PARAMETER_LIMITS
  draft.request_params =
    draft.request_params === undefined
      ? undefined
      : redactSafely(() => plainData(draft.request_params, redactor, limits))
  draft.request = draft.request === undefined ? undefined : redactSafely(() => requestData(draft.request, redactor))
  draft.tags = mergeSets(draft.tags, redactor, TAG_LIMITS)
  draft.context = mergeSets(draft.context, redactor, limits)
  const breadcrumbLimits = isClient ? CLIENT_BREADCRUMB_LIMITS : BREADCRUMB_LIMITS
  draft.breadcrumbs =
    draft.breadcrumbs && redactOr(null, () => redactBreadcrumbs(draft.breadcrumbs ?? [], redactor, breadcrumbLimits))
  if (Object.keys(draft.details).length > 0)
    draft.details = redactOr({}, () => plainData(draft.details, redactor, limits) as Record<string, unknown>)
}

type TextField = keyof typeof TEXT_LIMITS

function redactOptional(field: TextField, text: string | null, redactor: Redactor): string | null {
  return text === null ? null : redactField(field, text, redactor)
}

function redactField(field: TextField, text: string, redactor: Redactor): string {
  try {
    return truncateField(field, redactor.text(text))
  } catch {
    // Dropping the value is better than storing a secret.
    return FILTERED
  }
}

/** Truncates after redaction, because a truncated secret would not be recognized. */
function truncateField(field: TextField, text: string): string {
  return text.length > TEXT_LIMITS[field] ? cleanText(text, TEXT_LIMITS[field]) : text
}

const REQUEST_LIMITS: PlainLimits = { ...PARAMETER_LIMITS, depth: 2, keys: 40, string: 500, characters: 8000 }
const TAG_LIMITS: PlainLimits = { ...PARAMETER_LIMITS, depth: 1, keys: 50, string: 200, characters: 10_000 }
const BREADCRUMB_LIMITS: PlainLimits = {
  ...PARAMETER_LIMITS,
  depth: 2,
  keys: 10,
  items: 10,
  string: 200,
  characters: 2000,
}
const MAX_BREADCRUMB_MESSAGE_LENGTH = 500
/** Smaller for clients, because anonymous clients control the amount of data. */
const CLIENT_LIMITS: PlainLimits = { ...PARAMETER_LIMITS, values: 400, characters: 8000 }
const CLIENT_BREADCRUMB_LIMITS: PlainLimits = { ...BREADCRUMB_LIMITS, values: 40, characters: 500 }

const REQUEST_NAMES = acceptedNames(['content_type', 'duration_ms'] satisfies (keyof RequestFacts)[])

function requestData(request: unknown, redactor: Redactor): unknown {
  const data = plainData(request, redactor, REQUEST_LIMITS)
  return typeof data === 'object' && data !== null ? toCanonicalNames(data, REQUEST_NAMES).fields : data
}

/** Merges several sets of values; later sets win. Returns a list with the result, or an empty list. */
function mergeSets(sets: readonly unknown[], redactor: Redactor, limits: PlainLimits): readonly unknown[] {
  if (sets.length === 0) return sets
  const plain = sets.map((set) => redactSafely(() => plainData(set, redactor, limits)))
  return plain.length === 1 ? plain : [Object.assign({}, ...plain)]
}

function redactBreadcrumbs(
  crumbs: readonly RecordedBreadcrumb[],
  redactor: Redactor,
  limits: PlainLimits,
): RecordedBreadcrumb[] {
  return crumbs.map(({ category, message, occurred_at, duration_ms, metadata }) => ({
    category: cleanText(redactor.text(category), 64),
    message: cleanText(
      redactSafely(() => (message.includes('=') ? redactUrl(message, redactor) : redactor.text(message))),
      MAX_BREADCRUMB_MESSAGE_LENGTH,
    ),
    occurred_at,
    ...(typeof duration_ms === 'number' ? { duration_ms } : {}),
    ...(metadata
      ? { metadata: redactSafely(() => plainData(metadata, redactor, limits)) as Record<string, unknown> }
      : {}),
  }))
}

function redactCause(cause: Cause, redactor: Redactor): Cause {
  return {
    ...cause,
    error_type: redactor.text(cause.error_type),
    message: truncateField('cause_message', redactor.text(cause.message)),
    ...(cause.code === undefined ? {} : { code: redactor.text(cause.code) }),
    backtrace: redactLines(cause.backtrace, redactor),
    ...(cause.causes ? { causes: cause.causes.map((inner) => redactCause(inner, redactor)) } : {}),
  }
}

const MAX_SOURCE_LENGTH = 30_000

/** Redacts whole frames, up to the size limit. */
function redactSources(sources: readonly FrameSource[], redactor: Redactor): FrameSource[] {
  let remaining = MAX_SOURCE_LENGTH
  return sources
    .map(({ frame, first, lines }) => {
      const { line_number, column } = parseFrame(frame, '')
      const [redactedFrame = ''] = redactLines([frame], redactor)
      const redactedLines = lines.map((line, i) =>
        redactSourceLine(line, first + i === line_number ? column : null, redactor),
      )
      return { frame: redactedFrame, first, lines: redactedLines }
    })
    .filter(({ lines }) => {
      remaining -= lines.reduce((sum, line) => sum + line.length, 0)
      return remaining >= 0
    })
}

/**
 * SDKs truncate lines at a fraction of this length. Truncating here, before redaction, could leave part of a secret.
 */
const MAX_SCANNED_LENGTH = 10_000
/** Exceeds the output of `displayLine`. */
const MAX_SOURCE_LINE_LENGTH = 500

/** Redacts more than for local source, because this text is stored and may not be source at all. */
function redactSourceLine(line: string, column: number | null, redactor: Redactor): string {
  if (line.length > MAX_SCANNED_LENGTH) return '…'
  return cleanText(displayLine(redactor.text(line), column, redactor), MAX_SOURCE_LINE_LENGTH)
}

const redactedStacks = new WeakMap<readonly string[], { lines: readonly string[]; redactor: Redactor }>()

/**
 * Redacts each array once. Repeats from one location share one array (see thrown-value.ts) before and after redaction.
 */
function redactLines(lines: readonly string[], redactor: Redactor): readonly string[] {
  const cached = redactedStacks.get(lines)
  if (cached?.redactor === redactor) return cached.lines
  const filtered = lines.map((line) => (PLAIN_FRAME.test(line) && !mayContainToken(line) ? line : redactor.text(line)))
  const result = filtered.some((line, i) => line !== lines[i]) ? filtered : lines
  redactedStacks.set(lines, { lines: result, redactor })
  return result
}

/** Matches a frame with only a function, file and position, which cannot contain a key and a value. */
const PLAIN_FRAME = /^at (?:[^=?@%"'{:]* \()?(?:node:|file:\/\/|[A-Za-z]:)?[^=?@%"'{:]*(?::\d+){0,2}\)?$/

const QUERY_PAIR = /([?&#;])([^=&#;?\s]+)=([^&#;\s]*)/g

/** Matches a URL of unreserved characters, in which a secret can only be a query value or look like a token. */
const PLAIN_URL =
  /^(?:https?:\/\/[\w.-]+(?::\d{1,5})?)?\/[\w./~-]*(?:\?[\w.~[\]-]*(?:=[\w.~[\]-]*)?(?:&[\w.~[\]-]*(?:=[\w.~[\]-]*)?)*)?$/

function redactUrl(url: string, redactor: Redactor): string {
  const withoutPairs = url.replace(QUERY_PAIR, (pair, separator: string, key: string) =>
    redactor.isSensitiveKey(decodeKey(key)) ? `${separator}${key}=${FILTERED}` : pair,
  )
  // Most URLs are new, and the full search is many times more expensive.
  if (PLAIN_URL.test(url) && !mayContainTokenInUrl(url)) return withoutPairs
  return redactor.text(withoutPairs)
}

const ORIGIN = /^https?:\/\/[^/]*/
let harmlessOrigin = ''

/** Searches the origin once, because the URLs of one application share it. An origin is often as long as a token. */
function mayContainTokenInUrl(url: string): boolean {
  const origin = url.startsWith(`${harmlessOrigin}/`) ? harmlessOrigin : (ORIGIN.exec(url)?.[0] ?? '')
  if (origin !== harmlessOrigin) {
    if (mayContainToken(origin)) return true
    harmlessOrigin = origin
  }
  return mayContainToken(url.slice(origin.length))
}

function decodeKey(key: string): string {
  if (!key.includes('%')) return key
  try {
    return decodeURIComponent(key)
  } catch {
    // A key with invalid encoding is compared undecoded.
    return key
  }
}

function redactSafely<T>(redact: () => T): T | typeof FILTERED {
  return redactOr(FILTERED, redact)
}

function redactOr<T, U>(fallback: U, redact: () => T): T | U {
  try {
    return redact()
  } catch {
    // Dropping the value is better than storing a secret.
    return fallback
  }
}

import { hash } from 'node:crypto'

/**
 * A tracker that does only what must happen on the main thread before an error is buffered: read the stack, redact the
 * message, compute the signature, copy the request without secrets, and append the record. All patterns are the
 * shortest that suffice for the errors of this suite. Frames and signatures of repeats come from a cache.
 */
export async function lowerBound() {
  const records = []
  return {
    capture: (error, details) =>
      new Promise((resolve) => {
        records.push({ error: toRecord(error), request: details && redactRequest(details), resolve })
      }),
    async drain() {
      for (const { resolve } of records.splice(0)) resolve()
    },
    close: async () => {},
    drain_counts: false,
  }
}

const MAX_CACHED = 100
const FILTERED = '[FILTERED]'
const SECRET_VALUE = /(?:pass|secret|token|key)\w*[=:]\s*\S+|:\/\/[^/\s]+@/gi
const SENSITIVE_KEY = /pass|secret|token|key|auth|cookie|session|card/i
const VARIABLE_PART = /\d+/g
const QUERY_PAIR = /([?&])([^=&#]+)=([^&#]*)/g

function toRecord(error) {
  const { stack, name, message } = error
  const location = codeLocation(stack.slice(stack.indexOf('\n    at ')))
  const redacted = message.replace(SECRET_VALUE, FILTERED)
  const hash_signature = computeSignature(location, `${name}\n${redacted.replace(VARIABLE_PART, '#')}`)
  return { hash_signature, error_type: name, message: redacted, backtrace: location.lines, occurred_at: Date.now() }
}

const locations = new Map()

/** Frames of a stack without its message. */
function codeLocation(frames) {
  return getOrCompute(locations, frames, () => ({
    lines: frames.split('\n    ').slice(1),
    frames,
    signatures: new Map(),
  }))
}

function computeSignature({ frames, signatures }, message) {
  return getOrCompute(signatures, message, () => hash('sha256', message + frames))
}

function redactRequest({ request_url, request_params, user_id, user_agent, ip_address }) {
  const url = request_url.replace(QUERY_PAIR, (pair, start, key) =>
    isSensitive(key) ? `${start}${key}=${FILTERED}` : pair,
  )
  const redacted_url = url.replace(SECRET_VALUE, FILTERED)
  return { request_url: redacted_url, request_params: redactValue(request_params), user_id, user_agent, ip_address }
}

function redactValue(value) {
  if (typeof value === 'string') return value.replace(SECRET_VALUE, FILTERED)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(redactValue)
  const copy = {}
  for (const key of Object.keys(value)) copy[key] = isSensitive(key) ? FILTERED : redactValue(value[key])
  return copy
}

const sensitive = new Map()
const isSensitive = (key) => getOrCompute(sensitive, key, () => SENSITIVE_KEY.test(key))

function getOrCompute(cache, key, compute) {
  const cachedValue = cache.get(key)
  if (cachedValue !== undefined) return cachedValue
  if (cache.size >= MAX_CACHED) cache.clear()
  const value = compute()
  cache.set(key, value)
  return value
}

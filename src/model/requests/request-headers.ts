import { cleanText } from '../text.js'

/** What frameworks hand over: node's record, its rawHeaders, a Headers object or a list of pairs. */
export type RequestHeaders =
  | Readonly<Record<string, unknown>>
  | readonly string[]
  | Iterable<readonly [string, unknown]>
  | null
  | undefined

/**
 * Headers that help to understand a failed request and carry no secret by their nature. An allow-list: the next header
 * that somebody puts a token into has a name that nobody knows yet. Addresses of the client are left out, too; the one
 * that is believed stands in `ip_address`.
 */
const SAFE: ReadonlySet<string> = new Set([
  'accept', 'accept-charset', 'accept-encoding', 'accept-language', 'cache-control', 'connection', 'content-encoding',
  'content-language', 'content-length', 'content-type', 'date', 'dnt', 'expect', 'host', 'if-match', 'if-modified-since',
  'if-none-match', 'if-range', 'if-unmodified-since', 'origin', 'pragma', 'prefer', 'priority', 'range', 'referer', 'save-data',
  'sec-ch-ua', 'sec-ch-ua-arch', 'sec-ch-ua-bitness', 'sec-ch-ua-form-factors', 'sec-ch-ua-full-version',
  'sec-ch-ua-full-version-list', 'sec-ch-ua-mobile', 'sec-ch-ua-model', 'sec-ch-ua-platform', 'sec-ch-ua-platform-version',
  'sec-ch-ua-wow64', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user', 'sec-gpc', 'te',
  'transfer-encoding', 'upgrade', 'upgrade-insecure-requests', 'user-agent', 'via',
  'b3', 'traceparent', 'tracestate', 'x-b3-spanid', 'x-b3-traceid', 'x-cloud-trace-context', 'x-datadog-trace-id',
  'x-amz-cf-id', 'x-amzn-trace-id', 'cf-ipcountry', 'cf-ray', 'fly-region', 'fly-request-id', 'x-azure-ref', 'x-vercel-id',
  'x-correlation-id', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-prefix', 'x-forwarded-proto',
  'x-http-method-override', 'x-request-id', 'x-request-start', 'x-requested-with', 'x-app-version', 'x-platform',
]) // biome-ignore format: a word list reads best as lines of words

const MAX_HEADERS = 1000
const MAX_LIST = 100
const VALUE_LIMIT = 1000

/**
 * The headers of a request that may be kept, by their lower-case names. Their values are bounded, but not yet redacted:
 * a referer may hold a token. Never throws.
 *
 * @example
 * safeHeaders({ accept: '*\/*', cookie: 'sid=1' }) // { accept: '*\/*' }
 */
export function safeHeaders(headers: RequestHeaders): Record<string, string> {
  const safe: Record<string, string> = {}
  try {
    let seen = 0
    for (const [name, value] of pairsOf(headers)) {
      if (++seen > MAX_HEADERS) break
      const known = String(name).toLowerCase()
      const text = SAFE.has(known) ? textOf(value) : undefined
      if (text === undefined) continue
      const before = safe[known]
      safe[known] = cleanText(before === undefined ? text : `${before}, ${text}`, VALUE_LIMIT)
    }
  } catch {
    // A getter or Proxy of the host threw: what was read before it is still worth keeping.
  }
  return safe
}

function pairsOf(headers: RequestHeaders): Iterable<readonly [unknown, unknown]> {
  if (typeof headers !== 'object' || headers === null) return []
  if (Array.isArray(headers) && !Array.isArray(headers[0])) return pairsOfFlat(headers)
  if (Symbol.iterator in headers) return headers as Iterable<readonly [string, unknown]>
  return pairsOfRecord(headers as Readonly<Record<string, unknown>>)
}

function* pairsOfFlat(raw: readonly unknown[]): Iterable<readonly [unknown, unknown]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [raw[i], raw[i + 1]]
}

/** One value after the other, so that a getter that throws costs only what stands behind it. */
function* pairsOfRecord(record: Readonly<Record<string, unknown>>): Iterable<readonly [string, unknown]> {
  for (const name of Object.keys(record)) yield [name, record[name]]
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.slice(0, VALUE_LIMIT + 1)
  if (typeof value === 'number') return String(value)
  if (!Array.isArray(value)) return undefined
  const texts = value.slice(0, MAX_LIST).filter((item) => typeof item === 'string')
  return texts.length > 0 ? texts.map((item) => item.slice(0, VALUE_LIMIT + 1)).join(', ') : undefined
}

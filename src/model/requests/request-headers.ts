import { cleanText } from '../text.js'

/** Header formats of the frameworks: Node's record, rawHeaders, a Headers object or a list of pairs. */
export type RequestHeaders =
  | Readonly<Record<string, unknown>>
  | readonly string[]
  | Iterable<readonly [string, unknown]>
  | null
  | undefined

/**
 * Headers that help explain a failed request and contain no secrets. An allow-list, because an unknown header may
 * contain a token. Client addresses are omitted; `ip_address` contains the trusted address.
 */
const SAFE_HEADERS: ReadonlySet<string> = new Set([
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
const MAX_LIST_ITEMS = 100
const MAX_VALUE_LENGTH = 1000

/**
 * Headers that may be stored, by lower-case name. Values are bounded but not redacted yet: a referer can contain a
 * token. Never throws.
 * @example safeHeaders({ accept: '*\/*', cookie: 'sid=1' }) // { accept: '*\/*' }
 */
export function safeHeaders(headers: RequestHeaders): Record<string, string> {
  const safe: Record<string, string> = {}
  try {
    let seen = 0
    for (const [name, value] of headerPairs(headers)) {
      if (++seen > MAX_HEADERS) break
      const lowerCaseName = String(name).toLowerCase()
      const text = SAFE_HEADERS.has(lowerCaseName) ? headerText(value) : undefined
      if (text === undefined) continue
      const previous = safe[lowerCaseName]
      safe[lowerCaseName] = cleanText(previous === undefined ? text : `${previous}, ${text}`, MAX_VALUE_LENGTH)
    }
  } catch {
    // A getter or Proxy of the host threw: keep the headers read before it.
  }
  return safe
}

function headerPairs(headers: RequestHeaders): Iterable<readonly [unknown, unknown]> {
  if (typeof headers !== 'object' || headers === null) return []
  if (Array.isArray(headers) && !Array.isArray(headers[0])) return rawHeaderPairs(headers)
  if (Symbol.iterator in headers) return headers as Iterable<readonly [string, unknown]>
  return recordPairs(headers as Readonly<Record<string, unknown>>)
}

function* rawHeaderPairs(raw: readonly unknown[]): Iterable<readonly [unknown, unknown]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [raw[i], raw[i + 1]]
}

/** Reads values one by one, so that a getter that throws loses only the values after it. */
function* recordPairs(record: Readonly<Record<string, unknown>>): Iterable<readonly [string, unknown]> {
  for (const name of Object.keys(record)) yield [name, record[name]]
}

function headerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.slice(0, MAX_VALUE_LENGTH + 1)
  if (typeof value === 'number') return String(value)
  if (!Array.isArray(value)) return undefined
  const texts = value.slice(0, MAX_LIST_ITEMS).filter((item) => typeof item === 'string')
  return texts.length > 0 ? texts.map((item) => item.slice(0, MAX_VALUE_LENGTH + 1)).join(', ') : undefined
}

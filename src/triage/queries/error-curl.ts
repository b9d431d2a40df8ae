import { FILTERED } from '../../model/redaction/redaction.js'
import { safeHeaders } from '../../model/requests/request-headers.js'
import type { CapturedData } from './error-record.js'

type CapturedRequest = Pick<CapturedData, 'request_url' | 'request' | 'user_agent'>

/** Headers that curl sets itself, or that make curl wait for a body. */
const OMITTED_HEADERS =
  /^(?:host|content-length|connection|transfer-encoding|expect|te|upgrade|accept-encoding|sec-.*|via)$/

/**
 * Formats the request of an occurrence as a curl command, or returns null without a request. Omits filtered values,
 * cookies and credentials.
 *
 * @example
 * requestCurl({ request_url: 'https://shop.example/pay', request: { method: 'POST' }, user_agent: null })
 * // curl -g -X POST 'https://shop.example/pay'
 */
export function requestCurl({ request_url, request, user_agent }: CapturedRequest): string | null {
  const url = safeUrl(request_url)
  if (url === null) return null
  const headers = safeHeaders((request?.headers ?? {}) as Record<string, unknown>)
  if (user_agent !== null && headers['user-agent'] === undefined) headers['user-agent'] = user_agent
  const keptHeaders = Object.entries(headers).filter(
    ([name, value]) => !OMITTED_HEADERS.test(name) && !isFiltered(value),
  )
  return [
    // Without -g, curl expands brackets and braces in a URL.
    `curl -g${methodOption(request?.method)} ${shellQuote(url)}`,
    ...keptHeaders.map(([name, value]) => `  -H ${shellQuote(`${name}: ${value}`)}`),
  ].join(' \\\n')
}

/** Returns null for relative and filtered URLs. Removes filtered parameters. */
function safeUrl(request_url: string | null): string | null {
  if (request_url === null || !/^https?:\/\//i.test(request_url) || !URL.canParse(request_url)) return null
  const url = new URL(request_url)
  url.username = ''
  url.password = ''
  url.hash = ''
  for (const [name, value] of [...url.searchParams]) if (isFiltered(value)) url.searchParams.delete(name)
  return isFiltered(url.href) ? null : url.href
}

function isFiltered(text: string): boolean {
  return text.includes(FILTERED) || text.includes(encodeURIComponent(FILTERED))
}

function methodOption(method: unknown): string {
  // Accepts letters only, because clients can send any text as the method.
  const methodName = typeof method === 'string' && /^[A-Za-z]{1,20}$/.test(method) ? method.toUpperCase() : 'GET'
  if (methodName === 'GET') return ''
  // With -X HEAD, curl would wait for a body.
  return methodName === 'HEAD' ? ' -I' : ` -X ${methodName}`
}

/** Quotes text for a POSIX shell. Replaces control characters with spaces. */
function shellQuote(text: string): string {
  return `'${text.replace(/\p{Cc}/gu, ' ').replaceAll("'", `'\\''`)}'`
}

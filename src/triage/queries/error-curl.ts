import { FILTERED } from '../../model/redaction/redaction.js'
import { safeHeaders } from '../../model/requests/request-headers.js'
import type { Circumstances } from './error-record.js'

type Requested = Pick<Circumstances, 'request_url' | 'request' | 'user_agent'>

/** Headers that curl makes itself, or that would make it wait for a body. */
const LEFT_OUT = /^(?:host|content-length|connection|transfer-encoding|expect|te|upgrade|accept-encoding|sec-.*|via)$/

/**
 * The request of an occurrence as a command that asks it again, or null where there was none. Nothing that was filtered
 * out stands in it, and no cookie or credential.
 *
 * @example
 * requestCurl({ request_url: 'https://shop.example/pay', request: { method: 'POST' }, user_agent: null })
 * // curl -g -X POST 'https://shop.example/pay'
 */
export function requestCurl({ request_url, request, user_agent }: Requested): string | null {
  const url = addressOf(request_url)
  if (url === null) return null
  const headers = safeHeaders((request?.headers ?? {}) as Record<string, unknown>)
  if (user_agent !== null && headers['user-agent'] === undefined) headers['user-agent'] = user_agent
  const given = Object.entries(headers).filter(([name, value]) => !LEFT_OUT.test(name) && !isFiltered(value))
  return [
    // Without -g, curl takes brackets and braces in an address for several addresses.
    `curl -g${methodOf(request?.method)} ${quoted(url)}`,
    ...given.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
  ].join(' \\\n')
}

/** Only what can be asked at all: a path without a host is no address, and a filtered parameter no value. */
function addressOf(request_url: string | null): string | null {
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

function methodOf(method: unknown): string {
  // A word of letters: whatever else somebody sent as a method is not worth repeating.
  const word = typeof method === 'string' && /^[A-Za-z]{1,20}$/.test(method) ? method.toUpperCase() : 'GET'
  if (word === 'GET') return ''
  // With -X HEAD, curl waits for a body that never comes.
  return word === 'HEAD' ? ' -I' : ` -X ${word}`
}

/** For a POSIX shell: everything between single quotes means itself, line breaks and other control characters go. */
function quoted(text: string): string {
  return `'${text.replace(/\p{Cc}/gu, ' ').replaceAll("'", `'\\''`)}'`
}

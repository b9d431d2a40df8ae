import type { ForeignError } from '../../capture/clients/foreign-error.js'
import { safeHeaders } from '../../model/requests/request-headers.js'
import { asPairs, asRecord, asText, fromPairs, type Json } from './values.js'

type RequestFields = Pick<ForeignError, 'request_url' | 'request_params' | 'user_agent' | 'request'>

const MAX_PAIRS = 100
const MAX_BODY_LENGTH = 100_000

/** Reads the request or page of the error. Ignores cookies and server variables. */
export function eventRequest(event: Json): RequestFields {
  const request = asRecord(event.request)
  const { url, query } = requestAddress(request)
  const transaction = asText(event.transaction)
  const headers = safeHeaders(asPairs(request?.headers, MAX_PAIRS))
  const params = requestParams({ query, body: parseBody(request?.data) })
  return {
    ...(url ? { request_url: url } : {}),
    ...(headers['user-agent'] ? { user_agent: headers['user-agent'] } : {}),
    ...(params ? { request_params: params } : {}),
    ...(request
      ? {
          request: {
            method: asText(request.method)?.slice(0, 20),
            // The transaction of a server is the route. The transaction of a browser only repeats the URL.
            route: transaction && transaction !== url && request.method ? transaction.slice(0, 500) : undefined,
            headers,
            content_type: headers['content-type'],
          },
        }
      : {}),
  }
}

function requestAddress(request: Json | undefined): { url: string | undefined; query: Json | undefined } {
  const url = asText(request?.url)
  const query = parseQuery(request?.query_string)
  if (!url || url.includes('?') || !query) return { url, query }
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()
  return { url: text ? `${url}?${text}` : url, query }
}

/** Accepts text, a mapping or a list of pairs. */
function parseQuery(query: unknown): Json | undefined {
  if (typeof query !== 'string') {
    const pairs = asPairs(query, MAX_PAIRS)
    return pairs.length > 0 ? fromPairs(pairs) : undefined
  }
  const pairs = [...new URLSearchParams(query.slice(0, MAX_BODY_LENGTH))].slice(0, MAX_PAIRS)
  return pairs.length > 0 ? fromPairs(pairs) : undefined
}

/** Parses the body to an object if possible, because redaction recognizes keys in objects more reliably. */
function parseBody(data: unknown): unknown {
  if (typeof data !== 'string' || data.length > MAX_BODY_LENGTH || !/^\s*[{[]/.test(data)) return data ?? undefined
  try {
    return JSON.parse(data)
  } catch {
    // Not JSON.
    return data
  }
}

function requestParams(parts: Json): Json | undefined {
  const entries = Object.entries(parts).filter(([, part]) => part !== undefined && part !== '')
  return entries.length > 0 ? fromPairs(entries) : undefined
}

import type { ForeignError } from '../../capture/clients/foreign-error.js'
import { safeHeaders } from '../../model/requests/request-headers.js'
import { type Json, mappingOf, pairsOf, recordOf, textIn } from './values.js'

type RequestFields = Pick<ForeignError, 'request_url' | 'request_params' | 'user_agent' | 'request'>

const MOST_PAIRS = 100
const BODY_LIMIT = 100_000

/** The request or page of the error. Cookies and server variables are not read. */
export function requestOf(event: Json): RequestFields {
  const request = recordOf(event.request)
  const { url, query } = addressOf(request)
  const transaction = textIn(event.transaction)
  const headers = safeHeaders(pairsOf(request?.headers, MOST_PAIRS))
  const params = paramsOf({ query, body: bodyOf(request?.data) })
  return {
    ...(url ? { request_url: url } : {}),
    ...(headers['user-agent'] ? { user_agent: headers['user-agent'] } : {}),
    ...(params ? { request_params: params } : {}),
    ...(request
      ? {
          request: {
            method: textIn(request.method)?.slice(0, 20),
            // For a server it is the route; for a browser only the URL again.
            route: transaction && transaction !== url && request.method ? transaction.slice(0, 500) : undefined,
            headers,
            content_type: headers['content-type'],
          },
        }
      : {}),
  }
}

function addressOf(request: Json | undefined): { url: string | undefined; query: Json | undefined } {
  const url = textIn(request?.url)
  const query = queryOf(request?.query_string)
  if (!url || url.includes('?') || !query) return { url, query }
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()
  return { url: text ? `${url}?${text}` : url, query }
}

/** Text, a mapping or a list of pairs. */
function queryOf(query: unknown): Json | undefined {
  if (typeof query !== 'string') {
    const pairs = pairsOf(query, MOST_PAIRS)
    return pairs.length > 0 ? mappingOf(pairs) : undefined
  }
  const pairs = [...new URLSearchParams(query.slice(0, BODY_LIMIT))].slice(0, MOST_PAIRS)
  return pairs.length > 0 ? mappingOf(pairs) : undefined
}

/** Parsed to an object if possible, because redaction recognizes keys better than in text. */
function bodyOf(data: unknown): unknown {
  if (typeof data !== 'string' || data.length > BODY_LIMIT || !/^\s*[{[]/.test(data)) return data ?? undefined
  try {
    return JSON.parse(data)
  } catch {
    // Not JSON.
    return data
  }
}

function paramsOf(parts: Json): Json | undefined {
  const known = Object.entries(parts).filter(([, part]) => part !== undefined && part !== '')
  return known.length > 0 ? mappingOf(known) : undefined
}

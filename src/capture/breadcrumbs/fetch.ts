import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { isOwnUserAgent } from './own-requests.js'
import { endBreadcrumb, errorCode, type PendingBreadcrumb, startBreadcrumb } from './pending-breadcrumb.js'
import { subscribeAll } from './subscriptions.js'

interface UndiciRequest {
  method: string
  origin: string | URL
  path: string
  /** Alternating names and values; in older versions, lines of text. */
  headers: readonly unknown[] | string
}

/** Requests sent by the host with `fetch` or undici. */
export const fetchCalls: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  const pending = new WeakMap<UndiciRequest, PendingBreadcrumb>()
  const end = (request: UndiciRequest, outcome: Record<string, unknown>) => {
    const crumb = pending.get(request)
    if (crumb) endBreadcrumb(crumb, outcome)
  }
  return subscribeAll(reporter, {
    'undici:request:create': ({ request }: { request: UndiciRequest }) => {
      if (!breadcrumbs.isEnabledFor('http') || !hasRoomForBreadcrumb() || isOwnUserAgent(readUserAgent(request))) return
      const { method, origin, path } = request
      const message = `${method} ${typeof origin === 'string' ? origin : origin.origin}${path}`
      const crumb = startBreadcrumb(breadcrumbs, { category: 'http', message })
      if (crumb) pending.set(request, crumb)
    },
    'undici:request:headers': ({ request, response }: { request: UndiciRequest; response: { statusCode: number } }) =>
      end(request, { status: response.statusCode }),
    'undici:request:error': ({ request, error }: { request: UndiciRequest; error: unknown }) =>
      end(request, { error: errorCode(error) }),
  })
}

function readUserAgent({ headers }: UndiciRequest): unknown {
  if (typeof headers === 'string') return /^user-agent: *(.*)$/im.exec(headers)?.[1]
  if (!Array.isArray(headers)) return undefined
  const index = headers.findIndex((name, i) => i % 2 === 0 && String(name).toLowerCase() === 'user-agent')
  return index < 0 ? undefined : headers[index + 1]
}

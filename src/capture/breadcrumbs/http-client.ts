import type { ClientRequest, IncomingMessage } from 'node:http'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { isOwnUserAgent } from './own-requests.js'
import { endBreadcrumb, errorCode, type PendingBreadcrumb, startBreadcrumb } from './pending-breadcrumb.js'
import { subscribeAll } from './subscriptions.js'

/** Requests sent by the host with `node:http`, `node:https` or a library built on them. */
export const httpClient: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  const pending = new WeakMap<ClientRequest, PendingBreadcrumb>()
  const end = (request: ClientRequest, outcome: Record<string, unknown>) => {
    const crumb = pending.get(request)
    if (crumb) endBreadcrumb(crumb, outcome)
  }
  return subscribeAll(reporter, {
    'http.client.request.start': ({ request }: { request: ClientRequest }) => {
      if (
        !breadcrumbs.isEnabledFor('http') ||
        !hasRoomForBreadcrumb() ||
        isOwnUserAgent(request.getHeader('user-agent'))
      )
        return
      const message = `${request.method} ${requestUrl(request)}`
      const crumb = startBreadcrumb(breadcrumbs, { category: 'http', message })
      if (crumb) pending.set(request, crumb)
    },
    'http.client.response.finish': ({ request, response }: { request: ClientRequest; response: IncomingMessage }) =>
      end(request, { status: response.statusCode }),
    'http.client.request.error': ({ request, error }: { request: ClientRequest; error: unknown }) =>
      end(request, { error: errorCode(error) }),
  })
}

function requestUrl(request: ClientRequest): string {
  // Requests through a proxy have a full URL as their path.
  if (!request.path.startsWith('/')) return request.path.replace(CREDENTIALS, '$1')
  const host = request.getHeader('host')
  return `${request.protocol}//${typeof host === 'string' ? host : request.host}${request.path}`
}

const CREDENTIALS = /^(\w+:\/\/)[^/?#]*@/

import type { ClientRequest, IncomingMessage } from 'node:http'
import { hasRoomForBreadcrumb } from '../guards/stack-room.js'
import type { Source } from '../sources/source.js'
import { isOwnUserAgent } from './own-requests.js'
import { beginStep, endStep, errorCode, type PendingStep } from './pending-step.js'
import { subscribeAll } from './subscriptions.js'

/** Requests sent by the host with `node:http`, `node:https` or a library built on them. */
export const httpClient: Source = (reporter) => {
  const { breadcrumbs } = reporter.context
  const pending = new WeakMap<ClientRequest, PendingStep>()
  const end = (request: ClientRequest, outcome: Record<string, unknown>) => {
    const step = pending.get(request)
    if (step) endStep(step, outcome)
  }
  return subscribeAll(reporter, {
    'http.client.request.start': ({ request }: { request: ClientRequest }) => {
      if (
        !breadcrumbs.isEnabledFor('http') ||
        !hasRoomForBreadcrumb() ||
        isOwnUserAgent(request.getHeader('user-agent'))
      )
        return
      const step = beginStep(breadcrumbs, { category: 'http', message: `${request.method} ${requestUrl(request)}` })
      if (step) pending.set(request, step)
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

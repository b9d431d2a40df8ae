import type { IncomingMessage, ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, serveDashboard } from './bridge.js'
import { recordRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Wraps a `node:http` listener. The dashboard handles requests below `mount_path`, and the listener handles all other
 * requests. Errors of the listener are recorded and rethrown unchanged.
 * @example createServer(withFaultboard((request, response) => response.end('Hello'))).listen(3000)
 */
export function withFaultboard(listener: Listener, tracker: TrackerInstance = Tracker): Listener {
  const { mount_path } = startDashboard(tracker, null, (server) =>
    server.listeners('request').includes(wrappedListener) ? '' : undefined,
  )
  return wrappedListener

  function wrappedListener(request: IncomingMessage, response: ServerResponse): unknown {
    const mount = findMount(request, mount_path)
    if (mount) return serveDashboard(tracker, mount, request, response)
    markStart(request)
    try {
      const result = listener(request, response)
      if (!(result instanceof Promise)) return result
      return result.catch((error: unknown) => {
        recordRequestError(tracker, error, request, { unhandled: true, source: 'node' })
        throw error
      })
    } catch (error) {
      recordRequestError(tracker, error, request, { unhandled: true, source: 'node' })
      throw error
    }
  }
}

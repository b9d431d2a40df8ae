import type { ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import { markStart } from '../capture/facts/request-facts.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, type HostRequest, serveDashboard } from './bridge.js'
import { failsRequest, recordRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

type Next = (error?: unknown) => void

/**
 * Dashboard middleware, at `mount_path` (default /error_dashboard). Starts the tracker.
 * @example app.use(dashboard())
 */
export function dashboard(tracker: TrackerInstance = Tracker) {
  const { mount_path } = startDashboard(tracker, 'express', (server) => (isAtRoot(server, middleware) ? '' : undefined))
  return middleware

  function middleware(request: HostRequest, response: ServerResponse, next: Next): void {
    const mount = findMount(request, mount_path)
    if (mount) void serveDashboard(tracker, mount, request, response)
    else {
      markStart(request)
      next()
    }
  }
}

/** Subset of an Express application that the adapter uses. */
interface ExpressApplication {
  /** Express 4, where reading `router` throws. */
  _router?: Router
  router?: Router
}

interface Router {
  stack: { handle: unknown; slash?: boolean; regexp?: { fast_slash?: boolean } }[]
}

/**
 * Returns true if the server calls the middleware for every path. Outside of a request, Express does not expose the
 * prefix of a router.
 */
function isAtRoot(server: Server, middleware: unknown): boolean {
  const applications = server.listeners('request') as ExpressApplication[]
  return applications.some((app) =>
    (app._router ?? app.router)?.stack?.some(
      ({ handle, slash, regexp }) => handle === middleware && (slash ?? regexp?.fast_slash),
    ),
  )
}

/**
 * Records errors thrown or rejected by earlier handlers, and passes them on unchanged. Add it after the routes and
 * before your own error handlers.
 * @example app.use(capture())
 */
export function capture(tracker: TrackerInstance = Tracker) {
  tracker.start()
  return (error: unknown, request: HostRequest, response: ServerResponse, next: Next): void => {
    try {
      recordRequestError(tracker, error, request, { source: 'express', request_failed: failsRequest(error, response) })
    } catch {
      // Stack overflow: the host's error handlers must still be called.
    }
    next(error)
  }
}

import type { ServerResponse } from 'node:http'
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
  const { mount_path } = startDashboard(tracker, 'express')
  return (request: HostRequest, response: ServerResponse, next: Next): void => {
    const mount = findMount(request, mount_path)
    if (mount) void serveDashboard(tracker, mount, request, response)
    else {
      markStart(request)
      next()
    }
  }
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

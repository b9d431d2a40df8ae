import type { IncomingMessage, ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, type HostRequest, serveDashboard } from './bridge.js'
import { recordRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

interface NitroEvent {
  node: { req: IncomingMessage; res: ServerResponse }
  context: { params?: unknown; matchedRoute?: { path?: string }; user?: unknown; auth?: unknown }
}

interface Layer {
  route: string
  handler: (event: never) => unknown
}

/** Subset of `NitroApp` that the adapter uses. */
export interface NitroAppLike {
  hooks: { hook(name: never, listener: (...args: never[]) => void): unknown }
  h3App: { stack: Layer[]; handler: (event: never) => unknown }
  router: { handler: unknown }
}

/**
 * Plugin for Nitro 2 (Nuxt 3 and 4). Serves the dashboard at `mount_path` (default /error_dashboard) below the base URL
 * of the application. Records errors thrown by handlers, middleware and hooks. The host's middleware runs
 * before the dashboard. Starts the tracker.
 * @example
 * // server/plugins/faultboard.ts
 * export default faultboard()
 */
export function faultboard(tracker: TrackerInstance = Tracker) {
  return (nitroApp: NitroAppLike): void => {
    const { mount_path } = startDashboard(tracker, 'nitropack')
    mountDashboard(nitroApp, tracker, mount_path)
    const recordedEvents = watchHandlers(nitroApp, tracker)
    const hook = nitroApp.hooks.hook.bind(nitroApp.hooks) as unknown as (name: string, listener: Listener) => void
    hook('error', (error, { event, tags } = {}) => {
      // h3 wrapped an error that is already recorded.
      if (event && tags?.includes('request') && recordedEvents.delete(event)) return
      record(tracker, error, event, tags?.includes('request') === true)
    })
  }
}

type Listener = (error: unknown, context?: { event?: NitroEvent; tags?: string[] }) => void

/** Plugin with the default tracker: `export { default } from 'faultboard/nitro'`. */
export default function plugin(nitroApp: NitroAppLike): void {
  faultboard()(nitroApp)
}

/** Mounts the dashboard between the host's middleware and routes, because a route cannot pass on other requests. */
function mountDashboard({ h3App: { stack }, router }: NitroAppLike, tracker: TrackerInstance, mount_path: string) {
  const routerIndex = stack.findIndex(({ handler }) => handler === router.handler)
  const prefix = (stack[routerIndex]?.route ?? '').replace(/\/$/, '')
  const handler = (event: NitroEvent): Promise<void> | undefined => {
    const { req, res } = event.node
    const mount = findMount(req, mount_path, prefix)
    return mount ? serveDashboard(tracker, { ...mount, host_request: event }, req, res) : undefined
  }
  stack.splice(routerIndex < 0 ? stack.length : routerIndex, 0, { route: '/', handler })
}

/** Needed because the error hook does not receive the original thrown value (its class, a string, null). */
function watchHandlers({ h3App }: NitroAppLike, tracker: TrackerInstance): WeakSet<NitroEvent> {
  const recordedEvents = new WeakSet<NitroEvent>()
  // Called as a method of the same name, so that stacks in the host's log stay the same.
  const original = { handler: h3App.handler as (event: NitroEvent) => Promise<unknown> }
  const observedHandler = (event: NitroEvent) => {
    markStart(event.node.req)
    return original.handler(event).catch((error: unknown) => {
      recordedEvents.add(event)
      record(tracker, error, event, true)
      throw error
    })
  }
  h3App.handler = Object.assign(observedHandler, original.handler)
  return recordedEvents
}

function record(
  tracker: TrackerInstance,
  error: unknown,
  event: NitroEvent | undefined,
  request_failed: boolean,
): void {
  // An error without an event belongs to a task or to the whole process, and is recorded too.
  const request = event?.node.req as HostRequest
  const route = event?.context.matchedRoute?.path
  const details = { source: 'nitro', request_failed, ...(route && { request: { route } }) }
  recordRequestError(tracker, error, event ? requestWithContext(event) : request, details, request ?? null)
}

/** The request with the properties that other frameworks set, otherwise unchanged. */
function requestWithContext({ node: { req }, context: { params, user, auth } }: NitroEvent): HostRequest {
  const { url = '' } = req
  const queryStart = url.indexOf('?')
  const query = queryStart < 0 ? undefined : Object.fromEntries(new URLSearchParams(url.slice(queryStart + 1)))
  return Object.create(req, {
    query: { value: query },
    params: { value: params },
    ...(user ? { user: { value: user } } : {}),
    ...(auth ? { auth: { value: auth } } : {}),
  })
}

import type { ServerResponse } from 'node:http'
import type { Mount } from '../dashboard/mount.js'
import { ConfigurationError, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { type HostRequest, serveDashboard, serveWebRequest } from './bridge.js'
import { findReceivedRequest, readPeer } from './next-requests.js'

type RouteParameters = Record<string, string | string[] | undefined>

/**
 * Dashboard as a route of the App Router, in a folder that ends with a catch-all.
 * @example
 * // app/error_dashboard/[[...path]]/route.ts
 * export const { GET, HEAD, POST } = dashboard()
 */
export function dashboard(tracker: TrackerInstance = Tracker) {
  const respond = async (request: Request, { params }: { params: Promise<RouteParameters> }): Promise<Response> => {
    const { url, ...peer } = readPeer(request.headers)
    const mount = routeMount(url ?? new URL(request.url).pathname, await params, configuredMountPath(tracker))
    const webResponse = await serveWebRequest(tracker, { ...mount, ...peer, host_request: request }, asGet(request))
    // The body of a HEAD response is not read, so a stream would stay open.
    if (request.method === 'HEAD') await webResponse.body?.cancel()
    return request.method === 'HEAD' ? new Response(null, webResponse) : webResponse
  }
  return { GET: respond, HEAD: respond, POST: respond }
}

/**
 * Dashboard as an API route of the Pages Router.
 * @example
 * // pages/api/error_dashboard/[[...path]].ts
 * export default pagesDashboard()
 */
export function pagesDashboard(tracker: TrackerInstance = Tracker) {
  return async (request: HostRequest, response: ServerResponse): Promise<void> => {
    const url = findReceivedRequest(request.headers)?.url ?? request.url ?? '/'
    const mount = routeMount(url, request.query as RouteParameters, configuredMountPath(tracker))
    await serveDashboard(tracker, { ...mount, remote_address: request.socket.remoteAddress ?? null }, request, response)
  }
}

/** Mount point of the route: the part of the path before its catch-all. */
function routeMount(url: string, parameters: RouteParameters, mount_path: string): Omit<Mount, 'remote_address'> {
  const pathname = url.split(/[?#]/, 1)[0] ?? '/'
  const catchAllLength = Object.values(parameters).find(Array.isArray)?.length ?? 0
  const parts = pathname.replace(/\/$/, '').split('/')
  const base = parts.slice(0, parts.length - catchAllLength).join('/')
  const path = pathname.slice(base.length)
  // Behind a proxy that strips a prefix, the option contains the full path.
  return { base: base && mount_path.endsWith(base) ? mount_path : base, path }
}

function configuredMountPath(tracker: TrackerInstance): string {
  try {
    return tracker.config.mount_path
  } catch (error) {
    // Rethrown because Next.js logs thrown errors, which shows the operator the reason.
    if (error instanceof ConfigurationError) throw error
    return ''
  }
}

function asGet(request: Request): Request {
  return request.method === 'HEAD' ? new Request(request.url, { headers: request.headers }) : request
}

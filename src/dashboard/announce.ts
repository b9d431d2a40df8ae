import type { Cluster } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo, Server } from 'node:net'
import { isTestRun } from '../config/test-runner.js'
import type { Context } from '../context.js'

/**
 * A request reveals a server that is already listening. Some frameworks load the host's code with the first request.
 */
const CHANNELS = ['tracing:net.server.listen:asyncEnd', 'http.server.request.start']

/** Hosts start a second server, for example for metrics, shortly before or after the first. */
const WAIT_FOR_SERVERS_MS = 500

/** The only listening server may be unrelated, such as a metrics server that starts long before the application. */
const URL_HINT = ' (unless your application uses another port or a path prefix)'
const PATH_HINT = ' (below the prefix of its router, if it has one)'

/**
 * Returns the prefix of the dashboard on a server. Null if another server serves the dashboard. Undefined if only a
 * request can reveal the prefix.
 */
export type LocateDashboard = (server: Server) => string | null | undefined

export interface Announcement {
  /** Adds an adapter that can find its dashboard on a server. */
  add(locate: LocateDashboard): void
  stop(): void
}

/**
 * Prints the URL of the dashboard once, when its server starts to listen or receives its first request. If no adapter
 * finds its dashboard, prints the port of the only server or just the path, with a hint. Prints nothing in tests and in
 * later cluster workers.
 */
export function announceDashboard(
  { config, log }: Pick<Context, 'config' | 'log'>,
  env: NodeJS.ProcessEnv,
): Announcement {
  // NODE_APP_INSTANCE is the process number in PM2.
  if (!config.enabled || isTestRun(env) || Number(env.NODE_APP_INSTANCE ?? 0) > 0) return { add() {}, stop() {} }
  const publicOrigin = config.dashboard_base_url?.replace(/\/+$/, '')
  const adapters = new Set<LocateDashboard>()
  const candidates = new Set<Server>()
  let timer: NodeJS.Timeout | undefined

  const onServer = (message: unknown) => {
    try {
      const { server } = message as { server: Server }
      if (server.listenerCount('request') === 0) return
      if (publicOrigin !== undefined) return print(`${publicOrigin}${config.mount_path}`)
      const prefix = locate(server)
      if (typeof prefix === 'string') return print(`${serverOrigin(server)}${prefix}${config.mount_path}`)
      if (prefix === null) return
      candidates.add(server)
      timer ??= setTimeout(printCandidate, WAIT_FOR_SERVERS_MS).unref()
    } catch {
      // Ignored, because a missing line must not crash the host.
    }
  }
  const locate: LocateDashboard = (server) => {
    const prefixes = [...adapters].map((adapter) => adapter(server))
    const found = prefixes.find((prefix) => typeof prefix === 'string')
    return found ?? (prefixes.length > 0 && !prefixes.includes(undefined) ? null : undefined)
  }
  const printCandidate = () => {
    try {
      const [server, ...others] = candidates
      const origin = server && others.length === 0 ? serverOrigin(server) : ''
      print(`${origin}${config.mount_path}${origin === '' ? PATH_HINT : URL_HINT}`)
    } catch {
      // Ignored, as above.
    }
  }
  const print = (url: string) => {
    stop()
    if (env.NODE_APP_INSTANCE === undefined && isLaterWorker()) return
    log.info(`Dashboard: ${url}`)
  }
  const stop = () => {
    for (const channel of CHANNELS) unsubscribe(channel, onServer)
    clearTimeout(timer)
    adapters.clear()
    candidates.clear()
  }
  for (const channel of CHANNELS) subscribe(channel, onServer)
  return { add: (adapter) => void adapters.add(adapter), stop }
}

/** Empty for a server on a Unix socket, and for a server that has stopped. */
function serverOrigin(server: Server): string {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') return ''
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  const name = LOCAL_ADDRESSES.has(address.address) ? 'localhost' : host
  return `${'setSecureContext' in server ? 'https' : 'http'}://${name}:${address.port}`
}

/** Addresses of servers that `localhost` reaches. */
const LOCAL_ADDRESSES = new Set(['::', '0.0.0.0', '::1', '127.0.0.1'])

/** Checks whether this process is a cluster worker other than the first. */
function isLaterWorker(): boolean {
  // Does not import node:cluster, so that other hosts never load it. Only child processes have a channel.
  if (process.channel === undefined) return false
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster
  return (cluster.worker?.id ?? 1) > 1
}

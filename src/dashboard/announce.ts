import type { Cluster } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo, Server } from 'node:net'
import { isTestRun } from '../config/test-runner.js'
import type { Context } from '../context.js'

/** A request reveals a server that listens already: some frameworks load the host's code with the first request. */
const CHANNELS = ['tracing:net.server.listen:asyncEnd', 'http.server.request.start']

/**
 * Prints the URL of the dashboard once, when the first HTTP server of the host listens and has a port, or gets its first
 * request. Prints nothing in tests and in later workers of a cluster. Returns a function that stops waiting.
 */
export function announceDashboard(
  { config, log }: Pick<Context, 'config' | 'log'>,
  env: NodeJS.ProcessEnv,
): () => void {
  // PM2 numbers its processes.
  if (!config.enabled || isTestRun(env) || Number(env.NODE_APP_INSTANCE ?? 0) > 0) return () => {}
  const onServer = (message: unknown) => {
    try {
      const { server } = message as { server: Server }
      if (server.listenerCount('request') === 0) return
      stop()
      if (env.NODE_APP_INSTANCE === undefined && isLaterWorker()) return
      const origin = config.dashboard_base_url?.replace(/\/+$/, '') ?? originOf(server)
      log.info(`Dashboard: ${origin}${config.mount_path}`)
    } catch {
      // Ignored: a missing line must not crash the host.
    }
  }
  const stop = () => {
    for (const channel of CHANNELS) unsubscribe(channel, onServer)
  }
  for (const channel of CHANNELS) subscribe(channel, onServer)
  return stop
}

/** Empty for a server on a Unix socket. */
function originOf(server: Server): string {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') return ''
  return `${'setSecureContext' in server ? 'https' : 'http'}://localhost:${address.port}`
}

/** Whether the host uses node:cluster and this process is not the first worker. */
function isLaterWorker(): boolean {
  // Not imported, so that other hosts do not load it. Only child processes have a channel.
  if (process.channel === undefined) return false
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster
  return (cluster.worker?.id ?? 1) > 1
}

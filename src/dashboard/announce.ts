import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo, Server } from 'node:net'
import { isTestRun } from '../config/test-runner.js'
import type { Context } from '../context.js'

const LISTENING = 'tracing:net.server.listen:asyncEnd'

/**
 * Prints the URL of the dashboard once, when the first HTTP server of the host listens: a process knows its port only
 * then. Prints nothing in tests and in later workers of a cluster. Returns a function that stops waiting.
 */
export function announceDashboard(
  { config, log }: Pick<Context, 'config' | 'log'>,
  env: NodeJS.ProcessEnv,
): () => void {
  if (!config.enabled || isTestRun(env) || Number(env.NODE_UNIQUE_ID ?? 1) > 1) return () => {}
  const onListening = (message: unknown) => {
    try {
      const { server } = message as { server: Server }
      if (server.listenerCount('request') === 0) return
      stop()
      const origin = config.dashboard_base_url?.replace(/\/+$/, '') ?? originOf(server)
      log.info(`Dashboard: ${origin}${config.mount_path}`)
    } catch {
      // A host without this line is better than an uncaught exception in the host.
    }
  }
  const stop = () => unsubscribe(LISTENING, onListening)
  subscribe(LISTENING, onListening)
  return stop
}

/** Empty for a server on a Unix socket. */
function originOf(server: Server): string {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') return ''
  return `${'setSecureContext' in server ? 'https' : 'http'}://localhost:${address.port}`
}

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as v from 'valibot'
import { integer, parseInput } from '../../model/input/input.js'
import { CommandFailed, type Flags, type ParsedFlags } from '../command.js'

export const LISTEN_FLAGS = {
  port: {
    value: 'N',
    text: 'Port to listen on (default: the environment variable PORT, or 3000); 0 selects a free port',
  },
  host: { value: 'ADDRESS', text: 'Address to listen on (default: 127.0.0.1, this machine only)' },
} as const satisfies Flags

export interface Endpoint {
  port: number
  host: string
}

/** Address and port from the flags and PORT. */
export function resolveEndpoint({ port, host }: ParsedFlags<typeof LISTEN_FLAGS>): Endpoint {
  const [name, portText] = port === undefined ? ['PORT', process.env.PORT || undefined] : ['--port', port]
  const requestedPort = parseInput(v.object({ [name]: v.optional(integer({ min: 0, max: 65_535 })) }), {
    [name]: portText,
  })
  return { port: requestedPort[name] ?? 3000, host: host ?? '127.0.0.1' }
}

/** Starts listening and returns the URL for a browser on this machine. */
export async function listen(server: Server, { port, host }: Endpoint): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenFailure(cause, { port, host })))
    server.listen({ port, host }, resolve)
  })
  const { address, port: boundPort } = server.address() as AddressInfo
  const name = ['0.0.0.0', '::'].includes(address) ? 'localhost' : address.includes(':') ? `[${address}]` : address
  return `http://${name}:${boundPort}`
}

function listenFailure(cause: NodeJS.ErrnoException, { port, host }: Endpoint): CommandFailed {
  const message =
    {
      EADDRINUSE: `Port ${port} on ${host} is in use. Choose another with --port N.`,
      EACCES: `Port ${port} requires elevated privileges. Choose one above 1023 with --port N.`,
    }[cause.code ?? ''] ?? `Cannot listen on ${host}, port ${port}: ${cause.message}. Check --host and --port.`
  return new CommandFailed(message, { cause })
}

const CLOSE_TIMEOUT_MS = 2000

/** Waits for running requests to finish, up to a timeout. */
export async function stopListening(server: Server): Promise<void> {
  const forceClose = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS)
  await new Promise((resolve) => server.close(resolve))
  clearTimeout(forceClose)
}

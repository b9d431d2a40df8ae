import { connect, type Socket } from 'node:net'
import type { MailTransport } from '../../config/kinds.js'
import { loadDriver } from '../../store/load-driver.js'
import type { SendContext, Timeouts } from '../channels/channel.js'
import { lookupPublicAddress, rejectPrivateHost } from '../outbound/private-addresses.js'

/** Transport for a single email. */
export interface ClosableTransport extends MailTransport {
  close(): void
}

/** Subset of the nodemailer API in use. The host installs the package. */
interface Nodemailer {
  createTransport(options: Record<string, unknown>): ClosableTransport
}

interface Destination {
  host?: string
  port?: number
  secure?: boolean
}

type ConnectCallback = (error: Error | null, result?: { connection: Socket }) => void

/** Connects to `smtp_url` over our own socket: with timeouts, checked against private addresses, and unreferenced. */
export async function openSmtpTransport(
  smtp_url: string,
  { config }: SendContext,
  timeouts: Timeouts,
): Promise<ClosableTransport> {
  const { createTransport } = await loadDriver<Nodemailer>('nodemailer', 'smtp_url')
  let socket: Socket | null = null
  const transport = createTransport({
    url: smtp_url,
    // The socket below has its own, shorter timeout for connecting.
    connectionTimeout: timeouts.total_ms,
    greetingTimeout: timeouts.total_ms,
    socketTimeout: timeouts.total_ms,
    // Our emails have no attachments to load.
    ...{ disableFileAccess: true, disableUrlAccess: true, logger: false },
    getSocket(destination: Destination, onConnect: ConnectCallback) {
      try {
        socket = connectSocket(destination, config.block_private_addresses, timeouts.connect_ms, onConnect)
      } catch (error) {
        onConnect(error as Error)
      }
    },
  })
  return {
    sendMail: (mail) => transport.sendMail(mail),
    close() {
      transport.close()
      socket?.destroy()
    },
  }
}

function connectSocket(
  destination: Destination,
  publicOnly: boolean,
  connectTimeoutMs: number,
  onConnect: ConnectCallback,
): Socket {
  const { host = 'localhost', secure = false, port = secure ? 465 : 587 } = destination
  if (publicOnly) rejectPrivateHost(host)
  const socket = connect({ host, port, ...(publicOnly ? { lookup: lookupPublicAddress } : {}) }).unref()
  const onTimeout = () => socket.destroy(new Error(`Connection timed out after ${connectTimeoutMs / 1000} s.`))
  const timer = setTimeout(onTimeout, connectTimeoutMs).unref()
  socket.once('error', onConnect)
  socket.once('close', () => clearTimeout(timer))
  socket.once('connect', () => {
    clearTimeout(timer)
    // Nodemailer's greeting timer keeps the process alive. Pass the socket on only when it has data to read.
    if (secure) passSocket()
    else socket.once('readable', passSocket)
  })
  const passSocket = () => {
    socket.off('error', onConnect)
    onConnect(null, { connection: socket })
  }
  return socket
}

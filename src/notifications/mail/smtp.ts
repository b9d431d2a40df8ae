import { connect, type Socket } from 'node:net'
import type { MailTransport } from '../../config/kinds.js'
import { loadDriver } from '../../store/driver.js'
import type { Limits, Sending } from '../channels/channel.js'
import { lookupPublic, refusePrivateHost } from '../delivery/private-addresses.js'

/** A transport for one mail. */
export interface OpenTransport extends MailTransport {
  close(): void
}

/** What is used of nodemailer, which is the host's to install. */
interface Nodemailer {
  createTransport(options: Record<string, unknown>): OpenTransport
}

interface Destination {
  host?: string
  port?: number
  secure?: boolean
}

type Connected = (error: Error | null, made?: { connection: Socket }) => void

/** The mail server of `smtp_url`, over a socket of our own: it is bounded, checked, and keeps no process alive. */
export async function openSmtp(smtp_url: string, { config }: Sending, limits: Limits): Promise<OpenTransport> {
  const { createTransport } = await loadDriver<Nodemailer>('nodemailer', 'smtp_url')
  let socket: Socket | null = null
  const transport = createTransport({
    url: smtp_url,
    // From the first step on; connecting itself is bounded by the socket we make.
    connectionTimeout: limits.total_ms,
    greetingTimeout: limits.total_ms,
    socketTimeout: limits.total_ms,
    // A mail of ours has no attachment that would have to be read from somewhere.
    ...{ disableFileAccess: true, disableUrlAccess: true, logger: false },
    getSocket(destination: Destination, connected: Connected) {
      try {
        socket = dial(destination, config.block_private_addresses, limits.connect_ms, connected)
      } catch (error) {
        connected(error as Error)
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

function dial(destination: Destination, only_public: boolean, connect_ms: number, connected: Connected): Socket {
  const { host = 'localhost', secure = false, port = secure ? 465 : 587 } = destination
  if (only_public) refusePrivateHost(host)
  const socket = connect({ host, port, ...(only_public ? { lookup: lookupPublic } : {}) }).unref()
  const late = () => socket.destroy(new Error(`no connection within ${connect_ms / 1000} s`))
  const timer = setTimeout(late, connect_ms).unref()
  socket.once('error', connected)
  socket.once('close', () => clearTimeout(timer))
  socket.once('connect', () => {
    clearTimeout(timer)
    // While nodemailer waits for a greeting its timer holds the process: it gets the socket when there is one to read.
    if (secure) handOver()
    else socket.once('readable', handOver)
  })
  const handOver = () => {
    socket.off('error', connected)
    connected(null, { connection: socket })
  }
  return socket
}

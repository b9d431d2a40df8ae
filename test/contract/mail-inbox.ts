import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import type { Settings } from '../../src/options.js'
import { parseMail } from '../support/mime.js'
import type { Inbox } from './inbox.js'

const PASSWORD = 'mail-password-9'

/** Starts a local mail server. */
export async function openMailInbox(settingsFor: (url: string) => Settings): Promise<Inbox> {
  let markConnected = () => {}
  const connection = new Promise<void>((resolve) => {
    markConnected = resolve
  })
  const inbox: Inbox = {
    settings: {},
    secrets: [PASSWORD, Buffer.from(PASSWORD).toString('base64'), Buffer.from(`\0ops\0${PASSWORD}`).toString('base64')],
    messages: [],
    behavior: 'accept',
    connected: () => connection,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, closeTimeout: 50, logger: false },
    onAuth(_auth, _session, done) {
      markConnected()
      if (inbox.behavior === 'echo') done(failure(535, `no: ${inbox.secrets.join(' ')}`))
      else if (inbox.behavior !== 'hang') done(null, { user: 'ops' })
    },
    onRcptTo({ address }, _session, done) {
      if (inbox.behavior === 'refuse') done(failure(550, `no such box: ${address}`))
      else if (inbox.behavior === 'busy') done(failure(450, 'try again later'))
      else done()
    },
    async onData(stream, session, done) {
      const raw = await readAll(stream)
      const { headers, text, html } = parseMail(raw)
      inbox.messages.push({
        ...{ key: String(headers['message-id']), headers, raw },
        text: [headers.subject, text, html].join('\n'),
      })
      if (inbox.behavior === 'broken') done(failure(451, 'out of order'))
      else if (inbox.behavior === 'half') cutOff(server, session.id)
      else done()
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  inbox.settings = settingsFor(`smtp://ops:${PASSWORD}@127.0.0.1:${port}`)
  return inbox
}

/** Incomplete response. */
function cutOff(server: SMTPServer, id: string): void {
  const connections = Reflect.get(server, 'connections') as Set<{ id: string; _socket: import('node:net').Socket }>
  const socket = [...connections].find((connection) => connection.id === id)?._socket
  socket?.write('25')
  setTimeout(() => socket?.destroy(), 20)
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

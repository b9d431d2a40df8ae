import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import type { Settings } from '../../src/options.js'
import type { Inbox, ReceivedMessage } from './inbox.js'

export const BUSY_SECONDS = 7
const SECRET_PATH = '/services/T00000000/XyZsecretXyZ'

/** Starts a local webhook server. */
export async function openHttpInbox(settingsFor: (url: string) => Settings, secrets: string[] = []): Promise<Inbox> {
  let markConnected = () => {}
  const connection = new Promise<void>((resolve) => {
    markConnected = resolve
  })
  const inbox: Inbox = {
    settings: {},
    secrets: [SECRET_PATH, 'XyZsecretXyZ', 'T00000000', ...secrets],
    messages: [],
    behavior: 'accept',
    connected: () => connection,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (request, response) => {
    markConnected()
    const message = await readMessage(request)
    inbox.messages.push(message)
    respond(inbox, message, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  inbox.settings = settingsFor(`http://127.0.0.1:${port}${SECRET_PATH}?key=XyZsecretXyZ`)
  return inbox
}

async function readMessage(request: IncomingMessage): Promise<ReceivedMessage> {
  const raw = await readAll(request)
  const { headers } = request
  return { key: String(headers['idempotency-key']), headers, raw, text: strings(JSON.parse(raw)).join('\n') }
}

function respond(
  { behavior }: Inbox,
  { raw }: ReceivedMessage,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  switch (behavior) {
    case 'accept':
      response.end('ok\nand more')
      return
    case 'busy':
      response.writeHead(429, { 'Retry-After': String(BUSY_SECONDS) }).end('slow down')
      return
    case 'broken':
      response.writeHead(500).end('out of order')
      return
    case 'refuse':
      response.writeHead(404).end('no_service')
      return
    case 'hang':
      return
    case 'half':
      response.writeHead(200, { 'Content-Length': '100' }).write('o')
      setTimeout(() => response.destroy(), 20)
      return
    case 'redirect':
      response.writeHead(307, { Location: `http://127.0.0.1:9/${SECRET_PATH}` }).end()
      return
    case 'echo': {
      const { authorization = '' } = request.headers
      response
        .writeHead(400)
        .end(`bad \u0007${request.url} ${decodeURIComponent(request.url ?? '')} ${authorization} ${raw}`)
    }
  }
}

/** All strings in a JSON value, without field names. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

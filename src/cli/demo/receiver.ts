import { createServer } from 'node:http'
import { listen, stopListening } from '../host/listen.js'

/** Receives the notifications of the demo, in place of a real chat and webhook. */
export interface Receiver {
  chat_webhook_url: string
  webhook_url: string
  close(): Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('ok')
  })
  const address = await listen(server, { host: '127.0.0.1', port: 0 })
  // Open until the end of the demo. Must not keep the process alive.
  server.unref()
  return {
    chat_webhook_url: `${address}/chat`,
    webhook_url: `${address}/webhook`,
    close: () => stopListening(server),
  }
}

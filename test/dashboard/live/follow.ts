import { get, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import { signIn } from '../../support/host.js'

/** An open event stream, as in a browser. */
export interface Followed {
  status: number
  headers: IncomingMessage['headers']
  /** Next event or comment, unparsed. */
  next(): Promise<string>
  /** Number of unread events. */
  waiting(): number
  /** Settles when the server has ended the stream. */
  ended: Promise<void>
  leave(): void
}

/** Follows the stream at a URL until the test ends. */
export async function follow(url: string, headers: Record<string, string> = {}): Promise<Followed> {
  const request = get(url, { agent: false, headers: { ...signIn(), accept: 'text/event-stream', ...headers } })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  onTestFinished(() => void request.destroy())
  const blocks: string[] = []
  const wanted: { resolve(block: string): void; reject(error: Error): void }[] = []
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n\n')
    rest = parts.pop() ?? ''
    for (const block of parts) {
      const take = wanted.shift()
      if (take) take.resolve(block)
      else blocks.push(block)
    }
  })
  // The server or the test may close the connection.
  response.on('error', () => {})
  response.on('close', () => {
    for (const { reject } of wanted) reject(new Error(`the stream has ended: ${response.statusCode} ${rest}`))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: () => {
      const known = blocks.shift()
      if (known !== undefined) return Promise.resolve(known)
      if (response.closed) return Promise.reject(new Error(`the stream has ended: ${response.statusCode} ${rest}`))
      return new Promise((resolve, reject) => wanted.push({ resolve, reject }))
    },
    waiting: () => blocks.length,
    ended: new Promise((done) => response.on('end', done)),
    leave: () => void request.destroy(),
  }
}

import { nextTurn } from '../../model/event-loop-turns.js'
import type { DownloadedFile, Rendered } from '../define.js'
import { SECURITY_HEADERS } from './security-headers.js'
import { UNBUFFERED } from './streamed.js'

/** Response whose body can be compressed without reading it as a stream, which takes milliseconds for a long page. */
export class BufferedResponse extends Response {
  readonly content: Uint8Array<ArrayBuffer>

  constructor(content: Uint8Array<ArrayBuffer>, init: ResponseInit) {
    super(content, init)
    this.content = content
  }
}

export function jsonResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  })
}

export async function htmlResponse(
  document: Rendered,
  status = 200,
  headers: Record<string, string> = {},
): Promise<Response> {
  const page = String(await document)
  // Yields to the host. The last part of the page was rendered in this iteration, and converting a long page takes
  // milliseconds.
  await nextTurn()
  return new BufferedResponse(new TextEncoder().encode(page), {
    status,
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
  })
}

/** Sends the layout of a page immediately, and the content once it is rendered. */
export function streamedHtmlResponse(layout: { head: string; tail: string }, content: Promise<string>): Response {
  const encode = (text: string) => new TextEncoder().encode(text)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encode(layout.head))
    },
    async pull(controller) {
      controller.enqueue(encode(`${await content}${layout.tail}`))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'text/html; charset=utf-8', ...UNBUFFERED } })
}

/** Streams rows to the client while they are read from the database. */
export function csvResponse(rows: AsyncIterable<string>, name: string): Response {
  const encoder = new TextEncoder()
  const iterator = rows[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
  return new Response(body, {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    },
  })
}

/** Sends a file that browsers save and never render. */
export function attachmentResponse({ name, bytes, body }: DownloadedFile): Response {
  return new Response(body, {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Content-Length': String(bytes),
      'Cache-Control': 'no-store',
    },
  })
}

/** Leaves room for the other headers: Node.js clients refuse responses with more than 16 KB of headers. */
export const MAX_HEADER_BYTES = 12_000

/** Redirects to a path. Drops a query that is too long for a header, so that the list opens without filters. */
export function redirect(to: string, cookies: readonly string[] = []): Response {
  const [path = to] = to.length > MAX_HEADER_BYTES ? to.split('?', 1) : []
  return withCookies(new Response(null, { status: 302, headers: { Location: path } }), cookies)
}

export function withCookies(response: Response, cookies: readonly (string | null)[]): Response {
  for (const cookie of cookies) if (cookie) response.headers.append('Set-Cookie', cookie)
  return response
}

export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value)
  return response
}

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'

/**
 * Routes of the contract host. Each returns the response text or throws. The author of an adapter registers all of them
 * with GET, sends the returned text and leaves thrown values to the framework.
 *
 * @example
 * for (const [path, run] of Object.entries(ROUTES)) app.get(path, (_, response) => sendResult(run(), (text) => response.send(text)))
 */
export const ROUTES: Record<string, () => string | Promise<string>> = {
  '/ok': () => 'ok',
  '/sync': () => {
    throw new Error('broken')
  },
  '/async': async () => {
    throw new Error('broken')
  },
  '/awaited': async () => {
    await sleep(1)
    throw new Error('broken')
  },
  '/string': () => {
    throw 'broken'
  },
  '/null': () => {
    throw null
  },
  '/undefined': () => {
    throw undefined
  },
  '/missing': () => {
    throw clientError()
  },
  // The request continues while the timer throws.
  '/timer': async () => {
    setTimeout(() => {
      throw new Error('broken in a timer')
    }, 1)
    await sleep(20)
    return 'ok'
  },
  '/floating': async () => {
    void Promise.reject(new Error('floating rejection'))
    await sleep(20)
    return 'ok'
  },
  // Reports an error and then rethrows it.
  '/reported': () => {
    const error = new Error('broken')
    reporting.report?.(error)
    throw error
  },
  '/orders/:id': () => {
    throw new Error('broken')
  },
}

/** Reporting function of GET /reported, set by the test suite. */
export const reporting: { report?: ((error: unknown) => unknown) | undefined } = {}

/** Sends the result of a route: synchronously if possible, so that a synchronous throw stays synchronous. */
export function sendResult<T>(result: string | Promise<string>, send: (text: string) => T): T | Promise<T> {
  return typeof result === 'string' ? send(result) : result.then(send)
}

function clientError(): Error {
  return Object.assign(new Error('no such thing'), { status: 404, statusCode: 404, expose: true })
}

/** Sends some text and then fails, for GET /stream. */
export function failingStream(): Readable {
  return Readable.from(
    (async function* () {
      yield 'begun'
      await sleep(20)
      throw new Error('broken')
    })(),
    { objectMode: false },
  )
}

/** Headers that the variant `headers` sets on every response before Faultboard receives the request. */
export const HOST_HEADERS = { 'content-security-policy': "default-src 'self' https://host.example", 'x-host': 'yes' }

/**
 * Replaces `write` and `end` of a response for the variant `wrapped`, as compression middlewares do. Passes on responses
 * that are already compressed or must not be transformed.
 */
export function compress(response: ServerResponse): void {
  const gzip = createGzip()
  const { write, end, writeHead } = response
  let isUnchanged: boolean | null = null
  gzip.on('data', (chunk) => write.call(response, chunk, 'utf8'))
  gzip.on('end', () => end.call(response, undefined, 'utf8'))
  const startResponse = (): boolean => {
    if (isUnchanged !== null) return isUnchanged
    isUnchanged =
      response.hasHeader('content-encoding') || /no-transform/.test(String(response.getHeader('cache-control')))
    if (isUnchanged || response.headersSent) return isUnchanged
    response.setHeader('content-encoding', 'gzip')
    response.removeHeader('content-length')
    return isUnchanged
  }
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    const headers = rest.find(
      (argument) => typeof argument === 'object' && argument !== null && !Array.isArray(argument),
    )
    for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value as string)
    startResponse()
    return writeHead.call(response, status)
  }) as ServerResponse['writeHead']
  response.write = ((chunk: string | Uint8Array) => {
    if (startResponse()) return write.call(response, chunk, 'utf8')
    // Ensures that the response has started before the stream fails.
    response.flushHeaders()
    return gzip.write(chunk)
  }) as ServerResponse['write']
  response.end = ((chunk?: string | Uint8Array) => {
    if (startResponse()) end.call(response, chunk, 'utf8')
    else if (chunk === undefined || chunk === null || typeof chunk === 'function') gzip.end()
    else gzip.end(chunk)
    return response
  }) as ServerResponse['end']
}

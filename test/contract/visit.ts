import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, gunzipSync } from 'node:zlib'
import { vi } from 'vitest'
import { signIn } from '../support/host.js'

/** Observable effects of one request: on the client, the log and the process. */
export interface Outcome {
  status: number | null
  headers: IncomingHttpHeaders
  body: string
  /** `end` after a complete response, `cut` after a broken connection, `silence` without a response. */
  end: 'end' | 'cut' | 'silence'
  /** First line of each console error. */
  logged: string[]
  /** Errors that reached the handlers of the process. */
  process: string[]
}

export interface Visit {
  method?: string
  headers?: Record<string, string>
}

const PROCESS_EVENTS = ['uncaughtException', 'unhandledRejection'] as const

/** Long enough for a host on a busy machine, because a host that never responds takes all of it. */
const SILENCE_MS = 4000
/** Shorter after an error reached the process: the host runs in this process and has responded by then, or never does. */
const SILENCE_AFTER_ERROR_MS = 1000

/** Makes a request and collects its effects. Requests must not overlap, because they share the console and the process. */
export async function visit(
  origin: string,
  path: string,
  { onProcessError, ...visitOptions }: Visit & { onProcessError?: ProcessHandler | undefined } = {},
): Promise<Outcome> {
  const logged: string[] = []
  const processErrors: string[] = []
  const failure = new AbortController()
  const spy = vi.spyOn(console, 'error').mockImplementation((...words) => void logged.push(firstLine(words)))
  const outcome = await withProcessHandler(
    (error, event) => {
      processErrors.push(`${event}: ${textOf(error)}`)
      onProcessError?.(error, event)
      failure.abort()
    },
    async () => {
      const outcome = await rawRequest(origin, path, visitOptions, failure.signal)
      // Some frameworks log an error after the response, and later still after an aborted stream.
      await sleep(path.startsWith('/stream') ? 100 : 10)
      return outcome
    },
  )
  spy.mockRestore()
  const maskOrigin = (text: string) => text.replaceAll(origin, 'http://host')
  return { ...outcome, body: maskOrigin(outcome.body), logged: logged.map(maskOrigin), process: processErrors }
}

export type ProcessHandler = (error: unknown, event: string) => void

/** Replaces the process handlers of vitest, which would report errors of the host as test failures. */
export async function withProcessHandler<T>(handler: ProcessHandler, work: () => Promise<T>): Promise<T> {
  const originalListeners = PROCESS_EVENTS.map((event) => ({ event, listeners: process.rawListeners(event) }))
  for (const event of PROCESS_EVENTS) {
    process.removeAllListeners(event)
    process.on(event, (error: unknown) => handler(error, event))
  }
  try {
    return await work()
  } finally {
    for (const { event, listeners } of originalListeners) {
      process.removeAllListeners(event)
      for (const listener of listeners) process.on(event, listener as () => void)
    }
  }
}

/** Sends the path and method unchanged. `fetch` normalizes paths and rejects some methods. */
function rawRequest(
  origin: string,
  path: string,
  { method = 'GET', headers = signIn() }: Visit,
  failure: AbortSignal,
): Promise<Omit<Outcome, 'logged' | 'process'>> {
  const { hostname, port } = new URL(origin)
  return new Promise((done) => {
    let outcome: Omit<Outcome, 'logged' | 'process'> = { status: null, headers: {}, body: '', end: 'cut' }
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      const { date: _date, ...stableHeaders } = response.headers
      outcome = { ...outcome, status: response.statusCode ?? 0, headers: stableHeaders }
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', () => {})
      response.on('close', () =>
        done({ ...outcome, body: textOfBody(chunks, stableHeaders), end: response.complete ? 'end' : 'cut' }),
      )
    })
    request.setTimeout(SILENCE_MS)
    failure.addEventListener('abort', () => request.setTimeout(SILENCE_AFTER_ERROR_MS))
    request.on('timeout', () => {
      outcome.end = 'silence'
      done(outcome)
      request.destroy()
    })
    request.on('error', () => done(outcome))
    request.end()
  })
}

/** Decodes a body up to the point where it was cut off. */
function textOfBody(chunks: readonly Buffer[], headers: IncomingHttpHeaders): string {
  const body = Buffer.concat(chunks)
  if (headers['content-encoding'] !== 'gzip' || body.length === 0) return body.toString()
  return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
}

function firstLine(words: readonly unknown[]): string {
  return words.map(textOf).join(' ').trim().split('\n')[0]?.trim() ?? ''
}

function textOf(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
}

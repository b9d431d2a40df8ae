import type { IncomingMessage } from 'node:http'
import { DAY } from '../../model/time.js'
import { VERSION } from '../../model/version.js'
import { STOPPED_MESSAGE } from '../../model/with-timeout.js'
import type { Outcome, SendContext, Timeouts } from '../channels/channel.js'
import { lookupPublicAddress, PrivateAddressError, rejectPrivateHost } from './private-addresses.js'
import { responseText } from './response-text.js'

const DEFAULT_TIMEOUTS: Timeouts = { connect_ms: 5_000, total_ms: 10_000 }
const MAX_RESPONSE_BYTES = 4096

export interface OutboundRequest {
  url: string
  /** JSON text. */
  body: string
  /** Identical for every attempt. */
  key: string
  headers?: Readonly<Record<string, string>>
}

/** Makes one POST request with limits on time and response size. Never throws. Does not follow redirects. */
export async function post(outbound: OutboundRequest, sendContext: SendContext): Promise<Outcome> {
  const toLogText = (text: string) => responseText(text, sendContext.config, outbound.url)
  try {
    const response = await sendRequest(outbound, sendContext)
    return toOutcome(response, outbound.url, toLogText, sendContext.now())
  } catch (error) {
    if (error instanceof PrivateAddressError) return { state: 'refused', response: toLogText(error.message) }
    return {
      state: 'failed',
      response: toLogText(sendContext.signal.aborted ? STOPPED_MESSAGE : failureText(error)),
    }
  }
}

interface HttpResponse {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

function sendRequest(
  outbound: OutboundRequest,
  { config, signal, timeouts = DEFAULT_TIMEOUTS }: SendContext,
): Promise<HttpResponse> {
  const url = new URL(outbound.url)
  if (config.block_private_addresses) rejectPrivateHost(url.hostname)
  const isSecure = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    // Loaded with the first request, because most processes send none and loading takes 5 ms.
    const client = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http')
    const request = client.request(url, {
      method: 'POST',
      // Avoids keep-alive sockets, which would have to be closed on shutdown.
      agent: false,
      headers: { ...requestHeaders(outbound), ...outbound.headers },
      signal,
      ...(config.block_private_addresses ? { lookup: lookupPublicAddress } : {}),
    })
    let timeoutError: Error | null = null
    const abortWith = (message: string) => {
      timeoutError = new Error(message)
      request.destroy(timeoutError)
    }
    const timers = [
      setTimeout(
        () => abortWith(`Connection timed out after ${formatSeconds(timeouts.connect_ms)}.`),
        timeouts.connect_ms,
      ).unref(),
      setTimeout(() => abortWith(`Timed out after ${formatSeconds(timeouts.total_ms)}.`), timeouts.total_ms).unref(),
    ]
    request.once('socket', (socket) => {
      socket.unref()
      socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(timers[0]))
    })
    request.once('response', (response) =>
      readResponse(response).then(resolve, (error) => reject(timeoutError ?? error)),
    )
    // Node.js emits no `response` event for an upgrade, and the connection would stay open.
    request.once('upgrade', ({ statusCode = 101, headers }, socket) => {
      socket.destroy()
      resolve({ status: statusCode, headers, body: '' })
    })
    // Stays attached: a second `error` event without a listener would crash the host.
    request.on('error', (error) => reject(timeoutError ?? error))
    request.once('close', () => timers.forEach(clearTimeout))
    request.end(outbound.body)
  })
}

function requestHeaders({ body, key }: OutboundRequest): Record<string, string | number> {
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Accept: 'application/json, text/plain, */*',
    // Avoids decompression bombs.
    'Accept-Encoding': 'identity',
    'User-Agent': `Faultboard/${VERSION}`,
    'Idempotency-Key': key.replace(/[^!-~]/gu, encodeURIComponent),
  }
}

/** Reads as much of the body as the log can use, then closes. Rejects when the response is incomplete. */
function readResponse(response: IncomingMessage): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { statusCode: status = 0, headers } = response
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
    let body = Buffer.alloc(0)
    const done = () => resolve({ status, headers, body: isPlain ? body.toString('utf8') : '' })
    response.on('data', (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]).subarray(0, MAX_RESPONSE_BYTES)
      if (body.length < MAX_RESPONSE_BYTES) return
      done()
      response.destroy()
    })
    response.once('end', done)
    response.on('error', () => reject(new Error('The response was incomplete.')))
    response.once('close', () => reject(new Error('The response was incomplete.')))
  })
}

function toOutcome(
  { status, headers, body }: HttpResponse,
  url: string,
  toLogText: (text: string) => string,
  now: number,
): Outcome {
  if (status >= 300 && status < 400)
    return { state: 'refused', response: toLogText(redirectText(status, headers.location, url)) }
  const response = toLogText(
    `${status} ${body.trim() || process.getBuiltinModule('node:http').STATUS_CODES[status] || ''}`,
  )
  if (status >= 200 && status < 300) return { state: 'sent', response }
  const isTemporary = [408, 425, 429].includes(status) || status >= 500
  if (!isTemporary) return { state: 'refused', response }
  const after_ms = parseRetryAfter(headers['retry-after'], now)
  const rate_limited = status === 429 || (status === 503 && after_ms !== undefined)
  return {
    state: 'failed',
    response,
    ...(after_ms === undefined ? {} : { after_ms }),
    ...(rate_limited ? { rate_limited } : {}),
  }
}

/** Shows only the host of the target, because the path may be a secret. */
function redirectText(status: number, location: string | undefined, url: string): string {
  const targetUrl = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null
  const targetText =
    targetUrl === null
      ? 'to another URL'
      : targetUrl.host === new URL(url).host
        ? `to another path on ${targetUrl.host}`
        : `to ${targetUrl.origin}`
  return `${status} redirects ${targetText}. Redirects are not followed; configure the target URL.`
}

/** Parses seconds or a date; at most 24 hours. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isNaN(ms) ? undefined : Math.ceil(Math.min(Math.max(ms, 0), DAY))
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown failure.'
  // An AggregateError (all addresses failed) has no message of its own.
  const cause = error instanceof AggregateError ? error.errors[0] : error
  return (cause instanceof Error ? cause.message : '') || (error as NodeJS.ErrnoException).code || error.name
}

function formatSeconds(ms: number): string {
  return `${ms / 1000} s`
}

import http, { type IncomingMessage, STATUS_CODES } from 'node:http'
import https from 'node:https'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProject } from '../../config/project.js'
import { DAY } from '../../model/time.js'
import type { Limits, Outcome, Sending } from '../channels/channel.js'
import { answerText } from './answer.js'
import { lookupPublic, PrivateAddressError, refusePrivateHost } from './private-addresses.js'

const LIMITS: Limits = { connect_ms: 5_000, total_ms: 10_000 }
const MAX_ANSWER_BYTES = 4096

export interface Letter {
  url: string
  /** JSON. */
  body: string
  /** The same for every try. */
  key: string
  headers?: Readonly<Record<string, string>>
}

/** Posts once, within bounds of time and size, and tells what became of it. Never throws, follows no redirect. */
export async function post(letter: Letter, sending: Sending): Promise<Outcome> {
  const said = (text: string) => answerText(text, sending.config, letter.url)
  try {
    const answer = await exchange(letter, sending)
    return outcomeOf(answer, letter.url, said, sending.now())
  } catch (error) {
    if (error instanceof PrivateAddressError) return { state: 'refused', answer: said(error.message) }
    return { state: 'failed', answer: said(sending.signal.aborted ? 'stopped before there was an answer' : why(error)) }
  }
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

function exchange(letter: Letter, { config, signal, limits = LIMITS }: Sending): Promise<Answer> {
  const url = new URL(letter.url)
  if (config.block_private_addresses) refusePrivateHost(url.hostname)
  const secure = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      method: 'POST',
      // A socket of its own: one that is kept for later is one more thing to close.
      agent: false,
      headers: { ...headersOf(letter), ...letter.headers },
      signal,
      ...(config.block_private_addresses ? { lookup: lookupPublic } : {}),
    })
    let late: Error | null = null
    const giveUp = (sentence: string) => {
      late = new Error(sentence)
      request.destroy(late)
    }
    const timers = [
      setTimeout(() => giveUp(`no connection within ${seconds(limits.connect_ms)}`), limits.connect_ms).unref(),
      setTimeout(() => giveUp(`no answer within ${seconds(limits.total_ms)}`), limits.total_ms).unref(),
    ]
    request.once('socket', (socket) => {
      socket.unref()
      socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(timers[0]))
    })
    request.once('response', (response) => read(response).then(resolve, (error) => reject(late ?? error)))
    // It would hold the connection open for another protocol, and Node.js gives no response for it.
    request.once('upgrade', ({ statusCode = 101, headers }, socket) => {
      socket.destroy()
      resolve({ status: statusCode, headers, body: '' })
    })
    // A second one, such as that of a socket that is torn down, would bring the host down.
    request.on('error', (error) => reject(late ?? error))
    request.once('close', () => timers.forEach(clearTimeout))
    request.end(letter.body)
  })
}

function headersOf({ body, key }: Letter): Record<string, string | number> {
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Accept: 'application/json, text/plain, */*',
    // What is not unpacked cannot be a bomb.
    'Accept-Encoding': 'identity',
    'User-Agent': `Faultboard/${ownVersion()}`,
    'Idempotency-Key': key.replace(/[^!-~]/gu, encodeURIComponent),
  }
}

/** As much as the log can use. What comes after is not waited for; what breaks off before is no answer. */
function read(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { statusCode: status = 0, headers } = response
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
    let body = Buffer.alloc(0)
    const done = () => resolve({ status, headers, body: isPlain ? body.toString('utf8') : '' })
    response.on('data', (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]).subarray(0, MAX_ANSWER_BYTES)
      if (body.length < MAX_ANSWER_BYTES) return
      done()
      response.destroy()
    })
    response.once('end', done)
    response.on('error', () => reject(new Error('the answer broke off')))
    response.once('close', () => reject(new Error('the answer broke off')))
  })
}

function outcomeOf(
  { status, headers, body }: Answer,
  url: string,
  said: (text: string) => string,
  now: number,
): Outcome {
  if (status >= 300 && status < 400)
    return { state: 'refused', answer: said(redirected(status, headers.location, url)) }
  const answer = said(`${status} ${body.trim() || STATUS_CODES[status] || ''}`)
  if (status >= 200 && status < 300) return { state: 'sent', answer }
  const passing = [408, 425, 429].includes(status) || status >= 500
  if (!passing) return { state: 'refused', answer }
  const after_ms = retryAfter(headers['retry-after'], now)
  const rate_limited = status === 429 || (status === 503 && after_ms !== undefined)
  return {
    state: 'failed',
    answer,
    ...(after_ms === undefined ? {} : { after_ms }),
    ...(rate_limited ? { rate_limited } : {}),
  }
}

/** Only the host of it is told: the rest of such an address is a secret. */
function redirected(status: number, location: string | undefined, url: string): string {
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null
  const where =
    to === null ? 'elsewhere' : to.host === new URL(url).host ? `elsewhere on ${to.host}` : `to ${to.origin}`
  return `${status} points ${where}. Redirects are not followed: set the address it points to`
}

/** Seconds or a date, never more than a day. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isNaN(ms) ? undefined : Math.ceil(Math.min(Math.max(ms, 0), DAY))
}

function why(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be sent'
  // Of several addresses none could be reached: that error has no words of its own.
  const cause = error instanceof AggregateError ? error.errors[0] : error
  return (cause instanceof Error ? cause.message : '') || (error as NodeJS.ErrnoException).code || error.name
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

let version: string | undefined

function ownVersion(): string {
  version ??= findProject(dirname(fileURLToPath(import.meta.url))).version ?? '0'
  return version
}

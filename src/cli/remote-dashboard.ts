import { failureMessage } from '../model/errors.js'
import { usageError } from './arguments.js'
import { CommandFailed, type CommonFlags } from './command.js'
import { resolveCredentials } from './configuration.js'
import { escapeText, printError } from './io/terminal.js'

const EXAMPLE_URL = 'http://127.0.0.1:3000/error_dashboard'
const DUMPS_PATH = '/errors/diagnostic_dumps'
const REQUEST_TIMEOUT_MS = 60_000
/** The application pauses while it writes its heap. */
const SNAPSHOT_TIMEOUT_MS = 300_000
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

export interface DumpRequest {
  note: string | undefined
  report: boolean
  cpu_profile_ms: number
  heap_snapshot: boolean
}

/** Client for the dashboard of a running application. */
export interface RemoteDashboard {
  capture(options: DumpRequest): Promise<number>
  read(dump_id: number): Promise<unknown>
  dumpUrl(dump_id: number): string
}

export async function connectTo(
  flags: CommonFlags & Record<'username' | 'password' | 'token', string | undefined> & { url: string },
): Promise<RemoteDashboard> {
  const { base, ...urlCredentials } = parseDashboardUrl(flags.url)
  const authorization = await resolveAuthorization(flags, urlCredentials)
  const hasToken = authorization.startsWith('Bearer ')
  if (base.startsWith('http:') && !isLoopback(new URL(base).hostname)) {
    const secret = hasToken ? 'the token is' : 'username and password are'
    printError(`Warning: ${secret} sent unencrypted to ${new URL(base).host}; use https:// for remote hosts.`)
  }
  const send = (path: string, init: RequestInit = {}, timeoutMs = REQUEST_TIMEOUT_MS) =>
    readResponse(base, `${base}${path}`, {
      ...init,
      headers: { authorization, accept: 'application/json', ...init.headers },
      // Redirects must not receive the password.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
  return {
    dumpUrl: (dump_id) => `${base}${DUMPS_PATH}/${dump_id}`,
    async capture({ note, ...options }) {
      const body = new URLSearchParams({ ...(note ? { note } : {}) })
      for (const [name, value] of Object.entries(options)) body.set(name, String(value))
      const timeoutMs = (options.heap_snapshot ? SNAPSHOT_TIMEOUT_MS : REQUEST_TIMEOUT_MS) + options.cpu_profile_ms
      const { status, headers, text } = await send(DUMPS_PATH, { method: 'POST', body }, timeoutMs)
      const [, dump_id] = /\/diagnostic_dumps\/(\d+)$/.exec(headers.get('content-location') ?? '') ?? []
      // Requests with a token return the record, all other requests a redirect.
      if ((status === 200 || status === 302) && dump_id) return Number(dump_id)
      throw responseError({ base, hasToken, status, location: headers.get('location'), text })
    },
    async read(dump_id) {
      const { status, headers, text } = await send(`${DUMPS_PATH}/${dump_id}.json`)
      if (status === 200) return JSON.parse(text)
      throw responseError({ base, hasToken, status, location: headers.get('location'), text })
    },
  }
}

/**
 * Header with the token or password. Explicit credentials come first: those of a flag or of the URL, then the token of the
 * environment, then the password of the configuration.
 */
async function resolveAuthorization(
  flags: Parameters<typeof connectTo>[0],
  urlCredentials: { username: string | undefined; password: string | undefined },
): Promise<string> {
  const username = flags.username ?? urlCredentials.username
  const password = flags.password ?? urlCredentials.password
  const hasPassword = username !== undefined || password !== undefined
  if (flags.token !== undefined && hasPassword) throw usageError('Use either --token or a username and password')
  const token = flags.token ?? (hasPassword ? undefined : process.env.FAULTBOARD_TOKEN?.trim() || undefined)
  if (token !== undefined) {
    if (!/^[\w-]+$/.test(token)) throw usageError('The token contains invalid characters. It starts with fb_')
    return `Bearer ${token}`
  }
  const credentials = await resolveCredentials(flags, { username, password })
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
}

/** The base URL, and the credentials that it may contain. */
function parseDashboardUrl(text: string): { base: string; username: string | undefined; password: string | undefined } {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageError(`--url must be the URL of a dashboard such as ${EXAMPLE_URL}`)
  }
  const part = (value: string) => (value === '' ? undefined : decodeIfValid(value))
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:overview|errors(?:\/diagnostic_dumps)?)$/, '')
  return { base: `${url.origin}${path}`, username: part(url.username), password: part(url.password) }
}

function decodeIfValid(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A password with a bare percent sign is not decoded.
    return text
  }
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

async function readResponse(base: string, url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request)
    return { status: response.status, headers: response.headers, text: await readBounded(response) }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed(`Cannot reach ${base}: ${connectionFailure(error)}. Is the application running there?`)
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_RESPONSE_BYTES)
      throw new CommandFailed('The response is too large for a dump. Check that --url is the URL of a dashboard.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The message of a fetch error is generic. Its cause contains the reason. */
function connectionFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not respond in time'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return escapeText(failureMessage(cause))
}

interface RejectedRequest {
  base: string
  hasToken: boolean
  status: number
  location: string | null
  text: string
}

/** Describes the rejection and the next step. */
function responseError({ base, hasToken, status, location, text }: RejectedRequest): CommandFailed {
  const serverMessage = findMessage(text)
  if (status === 401 && !hasToken) {
    return new CommandFailed(
      `${base} rejected the username or password. Use the dashboard_username and dashboard_password of the application.`,
    )
  }
  if (serverMessage !== null) return new CommandFailed(`${base} returned ${status}: ${escapeText(serverMessage)}`)
  const outcome = location === null ? `returned ${status}` : `redirects to ${escapeText(location.slice(0, 200))}`
  return new CommandFailed(
    `${base} ${outcome}: it does not look like a dashboard. Use its URL with the mount path, such as ${EXAMPLE_URL}`,
  )
}

function findMessage(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error.slice(0, 1000) : null
  } catch {
    // A page of another application.
    return null
  }
}

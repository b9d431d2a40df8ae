import { failureMessage } from '../model/own-words.js'
import { wrongUse } from './arguments.js'
import { CommandFailed, type CommonFlags } from './command.js'
import { resolveCredentials } from './configuration.js'
import { complain, harmless } from './io/terminal.js'

const EXAMPLE = 'http://127.0.0.1:3000/error_dashboard'
const DUMPS = '/errors/diagnostic_dumps'
const PATIENCE_MS = 60_000
/** The application stands still while it writes its heap. */
const SNAPSHOT_PATIENCE_MS = 300_000
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export interface WantedDump {
  note: string | undefined
  report: boolean
  cpu_profile_ms: number
  heap_snapshot: boolean
}

/** The dashboard of an application that runs, as the command line uses it. */
export interface Remote {
  capture(options: WantedDump): Promise<number>
  read(dump_id: number): Promise<unknown>
  addressOf(dump_id: number): string
}

export async function connectTo(
  flags: CommonFlags & { url: string; username: string | undefined; password: string | undefined },
): Promise<Remote> {
  const { base, username, password } = readAddress(flags.url)
  const known = await resolveCredentials(flags, {
    username: flags.username ?? username,
    password: flags.password ?? password,
  })
  if (base.startsWith('http:') && !isLoopback(new URL(base).hostname)) {
    complain(`Warning: name and password travel in clear to ${new URL(base).host}; use https:// where it is not local.`)
  }
  const authorization = `Basic ${Buffer.from(`${known.username}:${known.password}`).toString('base64')}`
  const ask = (path: string, more: RequestInit = {}, patience = PATIENCE_MS) =>
    answerOf(base, `${base}${path}`, {
      ...more,
      headers: { authorization, accept: 'application/json', ...more.headers },
      // The password is for this address, not for wherever it leads.
      redirect: 'manual',
      signal: AbortSignal.timeout(patience),
    })
  return {
    addressOf: (dump_id) => `${base}${DUMPS}/${dump_id}`,
    async capture({ note, ...options }) {
      const body = new URLSearchParams({ ...(note ? { note } : {}) })
      for (const [name, value] of Object.entries(options)) body.set(name, String(value))
      const patience = (options.heap_snapshot ? SNAPSHOT_PATIENCE_MS : PATIENCE_MS) + options.cpu_profile_ms
      const { status, headers, text } = await ask(DUMPS, { method: 'POST', body }, patience)
      const [, dump_id] = /\/diagnostic_dumps\/(\d+)$/.exec(headers.get('content-location') ?? '') ?? []
      if (status === 302 && dump_id) return Number(dump_id)
      throw refusal({ base, status, location: headers.get('location'), text })
    },
    async read(dump_id) {
      const { status, headers, text } = await ask(`${DUMPS}/${dump_id}.json`)
      if (status === 200) return JSON.parse(text)
      throw refusal({ base, status, location: headers.get('location'), text })
    },
  }
}

/** The address without what is not part of it, and the credentials that may stand in it. */
function readAddress(text: string): { base: string; username: string | undefined; password: string | undefined } {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw wrongUse(`--url must be the address of a dashboard such as ${EXAMPLE}`)
  }
  const part = (value: string) => (value === '' ? undefined : decoded(value))
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:overview|errors(?:\/diagnostic_dumps)?)$/, '')
  return { base: `${url.origin}${path}`, username: part(url.username), password: part(url.password) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A password with a bare percent sign is meant as it stands.
    return text
  }
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

async function answerOf(base: string, address: string, request: RequestInit) {
  try {
    const response = await fetch(address, request)
    return { status: response.status, headers: response.headers, text: await bounded(response) }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed(`${base} cannot be asked: ${reasonOf(error)}. Is the application running there?`)
  }
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES) throw new CommandFailed('The answer is larger than any dump: this is no dashboard.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Node.js hides why behind a general sentence. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return harmless(failureMessage(cause))
}

interface Refused {
  base: string
  status: number
  location: string | null
  text: string
}

/** What to do next, as far as the answer tells. */
function refusal({ base, status, location, text }: Refused): CommandFailed {
  const said = sentenceIn(text)
  if (status === 401) {
    return new CommandFailed(
      `${base} refused the name or the password. They are those of dashboard_username and dashboard_password of the application.`,
    )
  }
  if (said !== null) return new CommandFailed(`${base} answered ${status}: ${harmless(said)}`)
  const what =
    location === null ? `answered ${status}` : `leads to ${harmless(location.slice(0, 200))} instead of answering`
  return new CommandFailed(
    `${base} ${what}: it does not look like a dashboard. Give its address with the mount path, such as ${EXAMPLE}`,
  )
}

function sentenceIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error.slice(0, 1000) : null
  } catch {
    // A page of somebody else.
    return null
  }
}

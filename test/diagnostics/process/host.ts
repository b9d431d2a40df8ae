import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../../src/options.js'
import { signIn } from '../../support/host.js'
import { CREDENTIALS } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('./host.mjs', import.meta.url))
const SIGNED_IN = signIn(CREDENTIALS.dashboard_username, CREDENTIALS.dashboard_password)

export interface MeasuredHost {
  pid: number
  origin: string
  /** Lets it do something; gives what it answers. */
  ask(deed: string): Promise<Record<string, unknown> | null>
  get(path: string): Promise<Response>
  json<T>(path: string): Promise<T>
  post(path: string, form?: Record<string, string>): Promise<Response>
  /** Captures a dump; gives its id. */
  dump(form?: Record<string, string>): Promise<number>
  /** Ends it in good order. */
  stop(): Promise<{ code: unknown; errors: string }>
}

/** Starts the host of this folder on a runtime, with these flags, arguments and variables. */
export async function startMeasuredHost(
  node: string,
  settings: Settings,
  { flags = [], args = [], env = {} }: { flags?: string[]; args?: string[]; env?: Record<string, string> } = {},
): Promise<MeasuredHost> {
  const orders = JSON.stringify({ application_name: 'shop', max_event_loop_lag_ms: null, ...CREDENTIALS, ...settings })
  const child = spawn(node, [...flags, PROGRAM, ...args], { env: { ...process.env, ORDERS: orders, ...env } })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const port = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => Number(line)),
    ended.then(() => null),
  ])
  if (port === null) throw new Error(`the host did not start: ${errors}`)
  const origin = `http://127.0.0.1:${port}`
  const at = (path: string) => `${origin}/error_dashboard${path}`
  const host: MeasuredHost = {
    pid: child.pid ?? 0,
    origin,
    ask: async (deed) => (await (await fetch(`${origin}${deed}`)).json()) as Record<string, unknown> | null,
    get: (path) => fetch(at(path), { headers: SIGNED_IN, redirect: 'manual' }),
    json: async <T>(path: string) => (await (await host.get(path)).json()) as T,
    post: (path, form = {}) =>
      fetch(at(path), { method: 'POST', headers: SIGNED_IN, redirect: 'manual', body: new URLSearchParams(form) }),
    async dump(form) {
      const response = await host.post('/errors/diagnostic_dumps', form)
      const made = response.headers.get('content-location')
      if (response.status !== 302 || made === null) throw new Error(`${response.status} ${await response.text()}`)
      return Number(made.split('/').at(-1))
    },
    async stop() {
      child.stdin.end()
      const impatience = setTimeout(() => child.kill('SIGKILL'), 20_000)
      const [code] = await ended
      clearTimeout(impatience)
      return { code, errors }
    },
  }
  return host
}

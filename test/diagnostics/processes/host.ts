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
  /** Calls an action of the host and returns its response. */
  fetchJson(action: string): Promise<Record<string, unknown> | null>
  get(path: string): Promise<Response>
  json<T>(path: string): Promise<T>
  post(path: string, form?: Record<string, string>): Promise<Response>
  /** Captures a dump and returns its id. */
  dump(form?: Record<string, string>): Promise<number>
  /** Stops the host gracefully. */
  stop(): Promise<{ code: unknown; errors: string }>
}

/** Starts the host of this folder with the given runtime, flags, arguments and environment variables. */
export async function startMeasuredHost(
  node: string,
  settings: Settings,
  { flags = [], args = [], env = {} }: { flags?: string[]; args?: string[]; env?: Record<string, string> } = {},
): Promise<MeasuredHost> {
  const hostSettings = JSON.stringify({
    application_name: 'shop',
    max_event_loop_lag_ms: null,
    ...CREDENTIALS,
    ...settings,
  })
  const child = spawn(node, [...flags, PROGRAM, ...args], {
    // In a test run, the URL of the dashboard is not printed.
    env: { ...process.env, HOST_SETTINGS: hostSettings, VITEST: 'true', ...env },
  })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const port = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => Number(line)),
    ended.then(() => null),
  ])
  if (port === null) throw new Error(`The host did not start: ${errors}`)
  const origin = `http://127.0.0.1:${port}`
  const at = (path: string) => `${origin}/error_dashboard${path}`
  const host: MeasuredHost = {
    pid: child.pid ?? 0,
    origin,
    fetchJson: async (action) => (await (await fetch(`${origin}${action}`)).json()) as Record<string, unknown> | null,
    get: (path) => fetch(at(path), { headers: SIGNED_IN, redirect: 'manual' }),
    json: async <T>(path: string) => (await (await host.get(path)).json()) as T,
    post: (path, form = {}) =>
      fetch(at(path), { method: 'POST', headers: SIGNED_IN, redirect: 'manual', body: new URLSearchParams(form) }),
    async dump(form) {
      const response = await host.post('/errors/diagnostic_dumps', form)
      const location = response.headers.get('content-location')
      if (response.status !== 302 || location === null) throw new Error(`${response.status} ${await response.text()}`)
      return Number(location.split('/').at(-1))
    },
    async stop() {
      child.stdin.end()
      const timeout = setTimeout(() => child.kill('SIGKILL'), 20_000)
      const [code] = await ended
      clearTimeout(timeout)
      return { code, errors }
    },
  }
  return host
}

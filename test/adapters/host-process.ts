import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { signIn } from '../support/host.js'
import { eventually } from '../support/tracker.js'

const HOSTS = resolve('test/hosts')

const cleanups: (() => unknown)[] = []

/** Stops the processes and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

export const CREDENTIALS = { user: 'admin', password: 'secret' }

/** Returns true if `npm ci` was run in test/hosts. */
export function isInstalled(name: string): boolean {
  return existsSync(join(HOSTS, 'node_modules', name, 'package.json'))
}

/**
 * Creates a folder with the contents of these folders and an installed copy of Faultboard. The folder is below
 * test/hosts, so that its packages resolve. Faultboard is a copy because bundlers treat a link as application code.
 */
export function createApplication(...sources: string[]): string {
  mkdirSync(join(HOSTS, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(HOSTS, 'dist', 'host-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const source of sources) cpSync(source, folder, { recursive: true })
  const installed = join(folder, 'node_modules/faultboard')
  cpSync('dist', join(installed, 'dist'), { recursive: true })
  cpSync('package.json', join(installed, 'package.json'))
  return folder
}

export interface HostProcess {
  process: ChildProcess
  origin: string
  /** Output so far, as lines. */
  output(): string[]
  stop(): Promise<number | string>
}

/** Runs a program until it exits. The program is an absolute path or relative to test/hosts/node_modules. */
export async function run(folder: string, program: string[], env: Record<string, string> = {}): Promise<void> {
  const child = start(folder, program, env)
  const [code] = await once(child.process, 'close')
  if (code !== 0) throw new Error(`${program.join(' ')} exited with ${code}:\n${child.output().join('\n')}`)
}

/** Starts a server on `PORT` and waits until this path responds. With null, does not wait. `node` runs the program. */
export async function serve(
  folder: string,
  program: string[],
  env: Record<string, string>,
  path: string | null = '/',
  node = process.execPath,
): Promise<HostProcess> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const child = start(folder, program, { ...env, PORT: String(port), HOST: '127.0.0.1', ORIGIN: origin }, node)
  const exited = once(child.process, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  const stop = () => {
    child.process.kill('SIGTERM')
    return exited
  }
  cleanups.push(stop)
  if (path === null) return { ...child, origin, stop }
  const responds = () => fetch(`${origin}${path}`).then(() => true, () => false) // biome-ignore format: one expression
  await eventually(() => child.process.exitCode !== null || responds(), `${program.join(' ')} responds`)
  if (child.process.exitCode !== null) throw new Error(`Server exited:\n${child.output().join('\n')}`)
  return { ...child, origin, stop }
}

function start(folder: string, [name = '', ...args]: string[], env: Record<string, string>, node = process.execPath) {
  const child = spawn(node, [resolve(HOSTS, 'node_modules', name), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NODE_OPTIONS: '',
      NO_COLOR: '1',
      NEXT_TELEMETRY_DISABLED: '1',
      FAULTBOARD_DASHBOARD_USERNAME: CREDENTIALS.user,
      FAULTBOARD_DASHBOARD_PASSWORD: CREDENTIALS.password,
      // Prevents a busy machine from dropping details that the tests check.
      FAULTBOARD_MAX_EVENT_LOOP_LAG_MS: '60000',
      ...env,
    },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
  }
  return { process: child, output: () => text.split('\n') }
}

/** Response and log output of a request, with the origin replaced. */
export async function visitHost({ origin, output }: HostProcess, path: string) {
  const before = output().length
  const response = await fetch(`${origin}${path}`, { redirect: 'manual', headers: { 'user-agent': 'test' } })
  const { date: _date, ...headers } = Object.fromEntries(response.headers)
  const body = await response.text()
  // The log arrives asynchronously through a pipe.
  await sleep(100)
  const withoutOrigin = (text: string) => text.replaceAll(origin, 'http://host')
  return {
    status: response.status,
    headers,
    body: withoutOrigin(body),
    // The URL of the dashboard may be printed during any of the first requests.
    logged: output()
      .slice(before - 1)
      .filter((line) => !line.startsWith('[faultboard] Dashboard: '))
      .map(withoutOrigin),
  }
}

/** Checks that the host, which takes the name from the header `x-user`, signs in a viewer. */
export async function expectSignInByHost(address: string): Promise<void> {
  const visit = (path: string, init: RequestInit = {}) =>
    fetch(`${address}${path}`, { redirect: 'manual', ...init, headers: { 'x-user': 'Anna', ...init.headers } })
  const page = await visit('/settings')
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('>Anna<')])
  const forbidden = await visit('/errors/1/resolve', { method: 'POST', headers: { accept: 'application/json' } })
  expect([forbidden.status, await forbidden.json()]).toEqual([403, { error: expect.stringContaining('responder') }])
  const guessed = await visit('/settings', { headers: { 'x-user': '' } })
  expect(guessed.status).toBe(401)
}

/** Client for the dashboard at this address. */
export function dashboardAt(address: string) {
  const headers = signIn(CREDENTIALS.user, CREDENTIALS.password)
  const json = async (path: string) => (await fetch(`${address}${path}`, { headers })).json()
  const find = async (message: string) => {
    const { errors } = (await json('/errors.json?per_page=100')) as { errors: { id: number; message: string }[] }
    return errors.filter((error) => error.message.includes(message))
  }
  return {
    get: (path: string, init: RequestInit = {}) =>
      fetch(`${address}${path}`, { redirect: 'manual', ...init, headers: { ...headers, ...init.headers } }),
    post: (path: string, form: Record<string, string>) =>
      fetch(`${address}${path}`, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(form) }),
    find,
    /** Waits for errors with this message and returns their details. */
    async waitForErrors(message: string): Promise<Record<string, unknown>[]> {
      await eventually(async () => (await find(message)).length > 0, `"${message}" is recorded`)
      return Promise.all((await find(message)).map(async ({ id }) => (await json(`/errors/${id}.json`)).error))
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => done(port))
    })
  })
}

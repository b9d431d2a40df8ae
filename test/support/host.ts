import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { dashboard } from '../../src/adapters/express.js'
import type { Settings } from '../../src/options.js'
import { type Environment, TrackerInstance } from '../../src/tracker.js'

export const USER = 'admin'
export const PASSWORD = 'pässword:with colon'

export interface Host {
  tracker: TrackerInstance
  /** Origin of the host. */
  origin: string
  /** Log lines of the tracker. */
  lines: string[]
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, form?: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Response>
  json(path: string): Promise<Record<string, never> & Record<string, unknown>>
  close(): Promise<void>
}

/** Starts a host with the dashboard on a fresh database. */
export async function startHost(
  database: string,
  settings: Settings = {},
  environment: Environment = {},
): Promise<Host> {
  return serveTracker({ database, ...settings }, environment)
}

/** Starts a host on an existing database with a custom mount of the dashboard. */
export async function serveTracker(
  settings: Settings,
  environment: Environment = {},
  listen = expressHost,
): Promise<Host> {
  const lines: string[] = []
  const tracker = new TrackerInstance(
    {
      dashboard_username: USER,
      dashboard_password: PASSWORD,
      application_name: 'shop',
      max_event_loop_lag_ms: null,
      ...settings,
    },
    { write: (line) => lines.push(line), env: {}, announcesDashboard: false, ...environment },
  ).start()
  const server = createServer(listen(tracker))
  const origin = await startListening(server)
  const at = (path: string) => `${origin}${tracker.config.mount_path}${path}`
  const host: Host = {
    tracker,
    origin,
    lines,
    get: (path, headers = {}) => fetch(at(path), { redirect: 'manual', headers: { ...signIn(), ...headers } }),
    post: (path, form = {}, headers = {}) =>
      fetch(at(path), { method: 'POST', redirect: 'manual', headers: { ...signIn(), ...headers }, body: encode(form) }),
    async json(path) {
      const response = await host.get(path, { accept: 'application/json' })
      return { status: response.status, ...(await response.json()) }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await tracker.shutdown()
    },
  }
  return host
}

function expressHost(tracker: TrackerInstance): RequestListener {
  return express().use(dashboard(tracker))
}

export function signIn(user = USER, password = PASSWORD): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

export async function startListening(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function encode(form: Record<string, string | string[]>): URLSearchParams {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) for (const item of [value].flat()) body.append(name, item)
  return body
}

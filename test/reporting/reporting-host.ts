import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Settings } from '../../src/options.js'
import { type ReportingOptions, reportingEndpoint } from '../../src/reporting/endpoint.js'
import { TrackerInstance } from '../../src/tracker.js'
import { PASSWORD, startListening, USER } from '../support/host.js'
import { NOON } from '../support/tracker.js'

/** Valid report. */
export const REPORT = {
  error_type: 'TypeError',
  message: 'x is not a function',
  stack: 'total@https://shop.example/cart.js:1:2',
  platform: 'web',
  app_version: '1.4.0',
}

export interface ReportingHost {
  tracker: TrackerInstance
  clock: { now: number }
  url: string
  lines: string[]
  /** Posts a body as JSON. */
  post(body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: unknown; headers: Headers }>
  send(init: RequestInit): Promise<Response>
}

/** Starts a node:http host with the endpoint until the test ends. */
export async function reportingHost(
  options: Omit<ReportingOptions, 'tracker'> = {},
  settings: Settings = {},
): Promise<ReportingHost> {
  const { tracker, clock, lines } = trackerFor(settings)
  const reporting = reportingEndpoint({ tracker, ...options })
  const url = `${await serve((request, response) => reporting.node(request, response))}/client_errors`
  return { tracker, clock, lines, url, ...reportingClient(url) }
}

export function trackerFor(settings: Settings) {
  const clock = { now: NOON }
  const lines: string[] = []
  const tracker = new TrackerInstance(
    {
      database: 'sqlite::memory:',
      application_name: 'shop',
      max_event_loop_lag_ms: null,
      dashboard_username: USER,
      dashboard_password: PASSWORD,
      app_version: 'server-9',
      git_sha: 'feedbeef',
      ...settings,
    },
    { now: () => clock.now, env: {}, write: (line) => lines.push(line) },
  )
  onTestFinished(() => tracker.shutdown())
  return { tracker, clock, lines }
}

/** Serves until the test ends and returns the origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return origin
}

export function reportingClient(url: string): Pick<ReportingHost, 'post' | 'send'> {
  const send = (init: RequestInit) => fetch(url, init)
  return {
    send,
    async post(body, headers = {}) {
      const response = await send({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
  }
}

/** Details of the only recorded error. */
export async function onlyError(tracker: TrackerInstance) {
  await tracker.flush()
  const [error, ...others] = await tracker.Queries.ErrorsList.call()
  if (!error || others.length > 0) throw new Error(`Expected one error, found ${others.length + (error ? 1 : 0)}`)
  return tracker.Queries.FindError.call({ error_id: error.id })
}

export async function totalOccurrences(tracker: TrackerInstance): Promise<number> {
  await tracker.flush()
  return (await tracker.Queries.ErrorsList.call()).reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
}

import { Agent, get, type OutgoingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailed } from '../command.js'
import type { HostProcess } from './host-process.js'

/** About 200 requests per second: enough for a 99th percentile, and no load for the host. */
const REQUEST_INTERVAL_MS = 5
/** Successful requests per failing request. */
const REQUESTS_PER_FAILURE = 4
const REQUEST_TIMEOUT_MS = 30_000
const VIEWERS = 20
/** Time between two page loads of one viewer. */
const RELOAD_INTERVAL_MS = 5000

/**
 * Sends requests until the work ends, without waiting for earlier responses. Returns the latencies in milliseconds, and
 * how many requests got no response or an unexpected status.
 */
export async function measureLatencies(
  origin: string,
  work: Promise<unknown>,
  { hasFailures }: { hasFailures: boolean },
): Promise<{ latencies: number[]; failures: number }> {
  const agent = new Agent({ keepAlive: true })
  const measured: Promise<number | null>[] = []
  const failing: Promise<number | null>[] = []
  let isRunning = true
  const end = () => {
    isRunning = false
  }
  work.then(end, end)
  const send = (path: string, status: number) => request(`${origin}${path}`, { agent, status }).catch(() => null)
  while (isRunning) {
    measured.push(send('/', 200))
    if (hasFailures && measured.length % REQUESTS_PER_FAILURE === 0) failing.push(send('/fail', 500))
    await sleep(REQUEST_INTERVAL_MS)
  }
  try {
    const [responses, otherResponses] = await Promise.all([Promise.all(measured), Promise.all(failing), work])
    const failures = [...responses, ...otherResponses].filter((latency) => latency === null).length
    return { latencies: responses.filter((latency) => latency !== null), failures }
  } finally {
    agent.destroy()
  }
}

/** Pages of the dashboard. Without Faultboard, a static page of similar size. */
const PAGES = ['/overview', '/errors', '/errors?per_page=100']

/** Opens every page once, because the first visit loads the dashboard. */
export async function openPages(host: HostProcess): Promise<void> {
  const agent = new Agent()
  for (const page of dashboardPages(host)) await request(`${host.origin}${page}`, { agent, headers: host.headers })
}

/** Opens a page for every viewer, with its live updates, and reloads it for the given time. */
export async function viewPages(host: HostProcess, milliseconds: number): Promise<void> {
  const { origin, mount_path, headers } = host
  const agent = new Agent({ keepAlive: true })
  const ends = performance.now() + milliseconds
  const pages = dashboardPages(host)
  const live = () => get(`${origin}${mount_path}/errors/live`, { agent, headers }, (response) => response.resume())
  const streams = mount_path === '' ? [] : Array.from({ length: VIEWERS }, () => live().on('error', () => {}))
  const viewer = async (_: unknown, index: number) => {
    await sleep(Math.min(milliseconds, RELOAD_INTERVAL_MS) * (index / VIEWERS))
    for (let view = index; performance.now() < ends; view++) {
      await request(`${origin}${pages[view % pages.length]}`, { agent, headers })
      await sleep(Math.max(0, Math.min(RELOAD_INTERVAL_MS, ends - performance.now())))
    }
  }
  try {
    await Promise.all(Array.from({ length: VIEWERS }, viewer))
  } finally {
    for (const stream of streams) stream.destroy()
    agent.destroy()
  }
}

function dashboardPages({ mount_path }: HostProcess): readonly string[] {
  return mount_path === '' ? ['/page'] : PAGES.map((page) => `${mount_path}${page}`)
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

interface RequestOptions {
  agent: Agent
  status?: number
  headers?: OutgoingHttpHeaders
}

/** Returns the time until the end of the response. */
function request(url: string, { agent, status = 200, headers = {} }: RequestOptions): Promise<number> {
  const started = performance.now()
  return new Promise<number>((resolve, reject) => {
    const sent = get(url, { agent, headers, timeout: REQUEST_TIMEOUT_MS }, (response) => {
      response.on('end', () => resolve(performance.now() - started)).on('error', reject)
      response.resume()
      if (response.statusCode !== status) reject(new Error(`status ${response.statusCode}`))
    })
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${REQUEST_TIMEOUT_MS / 1000} s`)))
    sent.on('error', reject)
  }).catch((cause: Error) => {
    throw new CommandFailed(`${new URL(url).pathname} of the measured host failed: ${cause.message}`, { cause })
  })
}

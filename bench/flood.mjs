import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { nextMessage, startChild } from './harness/child.mjs'
import { percentile } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const KEY = '8c1f0a6d2b3e4f50a1b2c3d4e5f60718'
/** Load of a small attack: 26 requests per second on six connections, 1.2 KB each. */
const CONNECTIONS = 6
const PAUSE_MS = 230
const PING_PAUSE_MS = 10
/** Phases alternate, so that other load on the machine affects all of them equally. */
const ROUNDS = 4
/** Without limits the 95th percentile was 19 times as high. */
const MAX_RATIO_TO_QUIET = 5
/** Minimum for the denominator, because timer noise dominates below it. */
const MIN_QUIET_MS = 2

const headers = `{"a":[${'[],'.repeat(5400)}[]],"length":0}\n\n`.repeat(63)
const EXPENSIVE_BODY = gzipSync(`{}\n${headers}`)

/** Measures response times of the host while one address sends envelopes that are expensive to parse. */
export async function* flood({ quick }) {
  yield { title: 'Flood of expensive envelopes from one address', measure: () => measureFlood(quick) }
}

async function measureFlood(quick) {
  const host = startChild(fileURLToPath(new URL('flood/host-child.mjs', import.meta.url)), { key: KEY })
  const exited = once(host, 'exit')
  const { port } = await nextMessage(host)
  const origin = `http://127.0.0.1:${port}`
  const seconds = (quick ? 8 : 24) / ROUNDS
  const floods = [
    { name: 'without a key', query: '', times: [], statuses: [] },
    { name: 'with a key', query: `?sentry_key=${KEY}`, times: [], statuses: [] },
  ]
  const quiet = []
  try {
    await measurePings(origin, 1)
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(...(await measurePings(origin, seconds)))
      for (const { query, times, statuses } of floods) {
        const attack = new AbortController()
        const attackers = Array.from({ length: CONNECTIONS }, () => sendEnvelopes(origin, query, attack.signal))
        times.push(...(await measurePings(origin, seconds)))
        attack.abort()
        statuses.push(...(await Promise.all(attackers)).flat())
      }
    }
    const unloaded = percentile(quiet, 0.95)
    const rows = [
      row({ name: 'p95 of /ping without a flood', figure: unloaded, unit: 'ms', more: { pings: quiet.length } }),
    ]
    for (const { name, times, statuses } of floods) {
      const figure = percentile(times, 0.95)
      const ratio = figure / Math.max(unloaded, MIN_QUIET_MS)
      const refused = statuses.filter((status) => status === 429).length
      rows.push(
        row({
          ...{ name: `p95 of /ping, flood ${name}`, figure, unit: 'ms', ratio, against: 'quiet' },
          limit: { max: MAX_RATIO_TO_QUIET },
          more: { pings: times.length, requests: statuses.length, refused },
        }),
      )
    }
    return rows
  } finally {
    host.disconnect()
    await exited
  }
}

async function measurePings(origin, seconds) {
  const times = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(PING_PAUSE_MS)) {
    const startedAt = performance.now()
    await (await fetch(`${origin}/ping`)).text()
    times.push(performance.now() - startedAt)
  }
  return times
}

async function sendEnvelopes(origin, query, signal) {
  const statuses = []
  while (!signal.aborted) {
    const response = await fetch(`${origin}/sentry/api/1/envelope/${query}`, {
      ...{ method: 'POST', body: EXPENSIVE_BODY, headers: { 'content-encoding': 'gzip' } },
    })
    await response.arrayBuffer()
    statuses.push(response.status)
    await pause(PAUSE_MS)
  }
  return statuses
}

function pause(ms) {
  return new Promise((resume) => setTimeout(resume, ms))
}

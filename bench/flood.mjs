import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { messageOf, startChild } from './harness/child.mjs'
import { percentile } from './harness/measure.mjs'
import { row } from './harness/report.mjs'

const KEY = '8c1f0a6d2b3e4f50a1b2c3d4e5f60718'
/** As in the security review: 26 requests a second on six connections, 1.2 kB each. */
const CONNECTIONS = 6
const PAUSE_MS = 230
const PING_PAUSE_MS = 10
/** Without limits the 95th percentile was 19 times as high. */
const MOST_OF_QUIET = 5

const headers = `{"a":[${'[],'.repeat(5400)}[]],"length":0}\n\n`.repeat(63)
const COSTLY = gzipSync(`{}\n${headers}`)

/** Response times of the host while one address sends envelopes that cost much to read. */
export async function* flood({ quick }) {
  const host = startChild(fileURLToPath(new URL('flood/host-child.mjs', import.meta.url)), { key: KEY })
  const exited = once(host, 'exit')
  const { port } = await messageOf(host)
  const origin = `http://127.0.0.1:${port}`
  const seconds = quick ? 5 : 20
  try {
    await pings(origin, 1)
    const quiet = percentile(await pings(origin, seconds), 0.95)
    const rows = [row({ name: 'p95 of /ping without a flood', figure: quiet, unit: 'ms' })]
    for (const [name, query] of [
      ['without a key', ''],
      ['with a key', `?sentry_key=${KEY}`],
    ]) {
      const attack = new AbortController()
      const attackers = Array.from({ length: CONNECTIONS }, () => attacking(origin, query, attack.signal))
      const figure = percentile(await pings(origin, seconds), 0.95)
      attack.abort()
      const statuses = (await Promise.all(attackers)).flat()
      const refused = statuses.filter((status) => status === 429).length
      rows.push(
        row({
          ...{ name: `p95 of /ping, flood ${name}`, figure, unit: 'ms', ratio: figure / quiet, against: 'quiet' },
          limit: { most: MOST_OF_QUIET },
          more: { requests: statuses.length, refused },
        }),
      )
    }
    yield { title: 'A flood of costly envelopes from one address', rows }
  } finally {
    host.disconnect()
    await exited
  }
}

async function pings(origin, seconds) {
  const times = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(PING_PAUSE_MS)) {
    const begun = performance.now()
    await (await fetch(`${origin}/ping`)).text()
    times.push(performance.now() - begun)
  }
  return times
}

async function attacking(origin, query, signal) {
  const statuses = []
  while (!signal.aborted) {
    const response = await fetch(`${origin}/sentry/api/1/envelope/${query}`, {
      ...{ method: 'POST', body: COSTLY, headers: { 'content-encoding': 'gzip' } },
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

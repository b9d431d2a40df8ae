import { setImmediate as turn } from 'node:timers/promises'
import { TrackerInstance } from '../../dist/tracker.js'
import { median, percentile } from '../harness/measure.mjs'
import { END } from './dataset.mjs'
import { trace } from './traced.mjs'

const BASE = '/error_dashboard'
const CREDENTIALS = { dashboard_username: 'bench', dashboard_password: 'bench-password' }
const AUTHORIZATION = `Basic ${Buffer.from(Object.values(CREDENTIALS).join(':')).toString('base64')}`
const ACCEPT = { html: 'text/html', json: 'application/json' }

export async function startDashboard(database) {
  const tracker = new TrackerInstance({ database, application_name: 'bench', ...CREDENTIALS }, { now: () => END })
  await tracker.ready()
  return tracker
}

/**
 * Visits a page several times in sequence and replays the statements of each visit with the bare driver. Returns
 * milliseconds. `cpu` is the CPU time of this process, which other load affects least. `stall` is the longest time that
 * the event loop was blocked.
 */
export async function measurePage(tracker, replay, path, format, { max, min, ms }) {
  for (let i = 0; i < 3; i++) await visit(tracker, path, format)
  const runs = []
  const started = performance.now()
  while (runs.length < max && (runs.length < min || performance.now() - started < ms)) {
    runs.push(await measureVisit(tracker, replay, path, format))
  }
  const all = (figure) => runs.map((run) => run[figure])
  return {
    p50: median(all('ms')),
    p95: percentile(all('ms'), 0.95),
    cpu: median(all('cpu')),
    bare: median(all('bare')),
    // Ignores one slow visit in twenty as noise of the machine.
    stall: percentile(all('stall'), 0.95),
    slowest: percentile(all('slowest'), 0.95),
    statements: runs[0].statements,
  }
}

/**
 * Measures the first visit after a start: milliseconds until the first byte and until the page is complete, 95th
 * percentiles. Caches are empty, no statement is prepared, and no page of the file is in memory.
 */
export async function measureFirstVisit(database, path, format, times) {
  const visits = []
  for (let i = 0; i < times; i++) {
    const tracker = await startDashboard(database)
    await visit(tracker, '/settings', format)
    visits.push(await visit(tracker, path, format))
    await tracker.shutdown()
  }
  const p95 = (readFigure) => percentile(visits.map(readFigure), 0.95)
  return { firstByte: p95(({ firstByte }) => firstByte), complete: p95(({ complete }) => complete) }
}

async function measureVisit(tracker, replay, path, format) {
  trace.statements = []
  const watch = watchLoop()
  await turn()
  const before = process.cpuUsage()
  const { complete: ms } = await visit(tracker, path, format)
  const { user, system } = process.cpuUsage(before)
  await turn()
  const stall = watch.stop()
  const { statements } = trace
  const replayStartedAt = performance.now()
  await replay.run(statements)
  const bare = performance.now() - replayStartedAt
  const slowest = Math.max(0, ...statements.map((statement) => statement.ms ?? 0))
  return { ms, cpu: (user + system) / 1000, bare, stall, slowest, statements: statements.length }
}

/** Records the longest time between two turns of the event loop. */
export function watchLoop() {
  let longest = 0
  let last = performance.now()
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    next = setImmediate(tick)
  }
  let next = setImmediate(tick)
  return {
    stop() {
      clearImmediate(next)
      return longest
    },
  }
}

/** Visits a page. Returns the milliseconds until its first byte and until it is complete. */
async function visit(tracker, path, format) {
  const url = new URL(`http://localhost${BASE}${path}`)
  const request = new Request(url, { headers: { authorization: AUTHORIZATION, accept: ACCEPT[format] } })
  const mount = { base: BASE, path: url.pathname.slice(BASE.length), remote_address: null }
  const started = performance.now()
  const response = await tracker.handle(request, mount)
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${await response.text()}`)
  let firstByte = null
  for await (const _chunk of response.body) firstByte ??= performance.now() - started
  return { firstByte, complete: performance.now() - started }
}

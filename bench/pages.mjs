import { row } from './harness/report.mjs'
import { startServer } from './harness/servers.mjs'
import { postgresDataset, sqliteDataset } from './pages/build.mjs'
import { QUESTIONS } from './pages/questions.mjs'
import { REPLAY, tracedPostgres, tracedSqlite } from './pages/traced.mjs'
import { measureFirstVisit, measurePage, startDashboard } from './pages/visit.mjs'

const SMALL = 100_000
const LARGE = 1_000_000
const HUGE = 10_000_000
const MAX_MS = { [SMALL]: 50, [LARGE]: 50, [HUGE]: 100 }
const MAX_STATEMENT_MS = 20
const MAX_STALL_MS = 8
const MAX_FIRST_VISIT_MS = { firstByte: 80, complete: 150 }
/** Pages with a stricter limit on PostgreSQL, by size. */
const MAX_POSTGRES_MS = { 'errors, 100 per page (html)': { [SMALL]: 45, [LARGE]: 45, [HUGE]: 60 } }
/** CPU time of a page view. With a server it cannot be measured, because the event loop monitor never sleeps. */
const MAX_CPU_MS = {
  'errors (html)': 10,
  'errors, 100 per page (html)': 22,
  'overview (html)': 12,
  'most frequent error (html)': 10,
}
/** Number of visits per page, and the total time after which the rest is skipped. */
const FULL = { max: 30, min: 8, ms: 600 }
const QUICK = { max: 20, min: 5, ms: 200 }

/** Measures response times of all pages on data sets of several sizes. */
export async function* pages({ quick, large, databases }) {
  const sizes = [SMALL, LARGE, ...(large ? [HUGE] : [])]
  if (databases.includes('sqlite')) yield* onSqlite(sizes, quick)
  if (!databases.includes('postgres')) return
  // The data set is built in a temporary server, which takes too long for a quick run.
  if (quick) yield { title: 'Pages on PostgreSQL', skipped: '--quick' }
  else yield* onPostgres(sizes)
}

function onSqlite(sizes, quick) {
  return tablesOf('SQLite', sizes, async (size) => {
    const file = await sqliteDataset(size)
    return measureAll(await tracedSqlite(file), await REPLAY.sqlite(file), quick)
  })
}

async function* onPostgres(sizes) {
  const server = await startServer('postgres')
  if (server.missing) {
    yield { title: 'Pages on PostgreSQL', skipped: server.missing }
    return
  }
  yield* tablesOf('PostgreSQL', sizes, async (size) => {
    const url = await postgresDataset(server.url, size)
    const pool = tracedPostgres(url)
    const results = await measureAll(pool, await REPLAY.postgres(url), false)
    await pool.end()
    return results
  })
  await server.stop()
}

async function measureAll(database, replay, quick) {
  const tracker = await startDashboard(database)
  const results = new Map()
  for (const [name, path] of QUESTIONS) {
    for (const format of quick ? ['html'] : ['html', 'json']) {
      const visits = quick ? QUICK : FULL
      const warm = await measurePage(tracker, replay, path, format, visits)
      const first = await measureFirstVisit(database, path, format, visits.min)
      results.set(`${name} (${format})`, { ...warm, first })
    }
  }
  await tracker.shutdown()
  await replay.close()
  return results
}

function* tablesOf(database, sizes, measureSize) {
  let smaller = null
  for (const size of sizes) {
    yield {
      title: `Pages on ${database}, ${size.toLocaleString('en-US')} occurrences`,
      async measure() {
        const results = await measureSize(size)
        const rows = rowsOf(database, size, results, smaller)
        smaller = results
        return rows
      },
    }
  }
}

function rowsOf(database, size, results, smaller) {
  const rows = [...results].map(([name, { p50, p95, first, cpu, bare, stall, slowest, statements }]) =>
    row({
      name,
      figure: p95,
      unit: 'ms p95',
      ...(statements > 0 ? { ratio: p50 / bare, against: 'bare queries' } : {}),
      judged: 'figure',
      limit: { max: (database === 'PostgreSQL' && MAX_POSTGRES_MS[name]?.[size]) || MAX_MS[size] },
      more: {
        p50,
        first: first.complete,
        ...(slowest > 0 ? { cpu, slowest } : {}),
        stall,
        statements,
        ...growth(p50, smaller?.get(name)),
      },
    }),
  )
  if (database === 'SQLite') rows.push(...cpuRows(results))
  const all = [...results.values()]
  const highest = (what) => Math.max(...all.map(what))
  const extreme = (name, what, limit) => row({ name, figure: highest(what), unit: 'ms', limit })
  const { firstByte, complete } = MAX_FIRST_VISIT_MS
  rows.push(
    extreme('slowest first visit after a start: first byte', ({ first }) => first.firstByte, { max: firstByte }),
    extreme('slowest first visit after a start: complete', ({ first }) => first.complete, { max: complete }),
    extreme('longest stall of the event loop', ({ stall }) => stall, { max: MAX_STALL_MS }),
  )
  if (database === 'SQLite') {
    const limit = size <= LARGE ? { max: MAX_STATEMENT_MS } : null
    rows.push(extreme("slowest statement in the host's thread", ({ slowest }) => slowest, limit))
  }
  return rows
}

function cpuRows(results) {
  return Object.entries(MAX_CPU_MS).map(([name, max]) => {
    const { cpu, bare } = results.get(name)
    const against = { ratio: cpu / bare, against: 'bare queries' }
    return row({ name: `${name}: CPU time`, figure: cpu, unit: 'ms', ...against, judged: 'figure', limit: { max } })
  })
}

function growth(p50, before) {
  return before ? { growth: p50 / before.p50 } : {}
}

import { row } from './harness/report.mjs'
import { startServer } from './harness/servers.mjs'
import { serverDataset, sqliteDataset } from './pages/build.mjs'
import { REPLAY, tracedMysql, tracedPostgres, tracedSqlite } from './pages/traced.mjs'
import { measureFirstVisit, measurePage, startDashboard } from './pages/visit.mjs'
import { FEEDS, VISITED_PAGES } from './pages/visited-pages.mjs'

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
  for (const dialect of ['postgres', 'mysql'].filter((name) => databases.includes(name))) {
    const { database, connect } = SERVERS[dialect]
    // The data set is built in a temporary server, which takes too long for a quick run.
    if (quick) yield { title: `Pages on ${database}`, skipped: '--quick' }
    // The larger size on MariaDB would exceed the duration of a full run.
    else yield* onServer(dialect, database, connect, dialect === 'mysql' && !large ? [SMALL] : sizes)
  }
}

const SERVERS = {
  postgres: { database: 'PostgreSQL', connect: tracedPostgres },
  mysql: { database: 'MariaDB', connect: tracedMysql },
}

function onSqlite(sizes, quick) {
  return tablesBySize('SQLite', sizes, async (size) => {
    const file = await sqliteDataset(size)
    const formats = quick ? ['html'] : ['html', 'json']
    return measureAll(await tracedSqlite(file), await REPLAY.sqlite(file), formats, quick ? QUICK : FULL)
  })
}

async function* onServer(dialect, database, connect, sizes) {
  const server = await startServer(dialect)
  if (server.missing) {
    yield { title: `Pages on ${database}`, skipped: server.missing }
    return
  }
  yield* tablesBySize(database, sizes, async (size) => {
    const url = await serverDataset(dialect, server.url, size)
    const pool = connect(url)
    // Omits JSON, which runs the same statements and is measured on SQLite.
    const results = await measureAll(pool, await REPLAY[dialect](url), ['html'], FULL)
    await pool.end()
    return results
  })
  await server.stop()
}

async function measureAll(database, replay, formats, visits) {
  const tracker = await startDashboard(database)
  const results = new Map()
  const all = [
    ...VISITED_PAGES.flatMap(([name, path]) => formats.map((format) => [name, path, format])),
    ...FEEDS.map(([name, path]) => [name, path, 'json']),
  ]
  for (const [name, path, format] of all) {
    results.set(`${name} (${format})`, await measurePage(tracker, replay, path, format, visits))
  }
  await tracker.shutdown()
  // After all other visits, because V8 discards optimized code when new trackers start in the same process.
  for (const [name, path, format] of all) {
    results.get(`${name} (${format})`).first = await measureFirstVisit(database, path, format, visits.min)
  }
  await replay.close()
  return results
}

function* tablesBySize(database, sizes, measureSize) {
  let smallerResults = null
  for (const size of sizes) {
    yield {
      title: `Pages on ${database}, ${size.toLocaleString('en-US')} occurrences`,
      async measure() {
        const results = await measureSize(size)
        const rows = resultRows(database, size, results, smallerResults)
        smallerResults = results
        return rows
      },
    }
  }
}

function resultRows(database, size, results, smallerResults) {
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
        ...growth(p50, smallerResults?.get(name)),
      },
    }),
  )
  if (database === 'SQLite') rows.push(...cpuRows(results))
  const all = [...results.values()]
  const highest = (readFigure) => Math.max(...all.map(readFigure))
  const extreme = (name, readFigure, limit) => row({ name, figure: highest(readFigure), unit: 'ms', limit })
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

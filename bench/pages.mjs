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
/** Number of visits per page, and the total time after which the rest is skipped. */
const FULL = { max: 40, min: 15, ms: 1500 }
const QUICK = { max: 20, min: 5, ms: 200 }

/** Measures response times of all pages on data sets of several sizes. */
export async function* pages({ quick, large, databases }) {
  const sizes = [SMALL, LARGE, ...(large ? [HUGE] : [])]
  if (databases.includes('sqlite')) yield* await onSqlite(sizes, quick)
  if (!databases.includes('postgres')) return
  // The data set is built in a temporary server, which takes too long for a quick run.
  if (quick) yield { title: 'Pages on PostgreSQL', skipped: '--quick' }
  else yield* await onPostgres(sizes)
}

async function onSqlite(sizes, quick) {
  const measured = new Map()
  for (const size of sizes) {
    const file = await sqliteDataset(size)
    measured.set(size, await measureAll(await tracedSqlite(file), await REPLAY.sqlite(file), quick))
  }
  return tablesOf('SQLite', measured)
}

async function onPostgres(sizes) {
  const server = await startServer('postgres')
  if (server.missing) return [{ title: 'Pages on PostgreSQL', skipped: server.missing }]
  const measured = new Map()
  for (const size of sizes) {
    const url = await postgresDataset(server.url, size)
    const pool = tracedPostgres(url)
    measured.set(size, await measureAll(pool, await REPLAY.postgres(url), false))
    await pool.end()
  }
  await server.stop()
  return tablesOf('PostgreSQL', measured)
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

function tablesOf(database, measured) {
  let smaller = null
  return [...measured].map(([size, results]) => {
    const rows = [...results].map(([name, { p50, p95, first, cpu, bare, stall, slowest, statements }]) =>
      row({
        name,
        figure: p95,
        unit: 'ms p95',
        ...(statements > 0 ? { ratio: p50 / bare, against: 'bare queries' } : {}),
        judged: 'figure',
        limit: { max: MAX_MS[size] },
        // With a server, waiting costs CPU time too, because the event loop monitor never sleeps.
        more: {
          p50,
          first,
          ...(slowest > 0 ? { cpu, slowest } : {}),
          stall,
          statements,
          ...growth(p50, smaller?.get(name)),
        },
      }),
    )
    const all = [...results.values()]
    const limit = { max: MAX_MS[size] }
    rows.push(row({ name: 'slowest first visit after a start', figure: highest(all, 'first'), unit: 'ms', limit }))
    rows.push(row({ name: 'longest stall of the event loop', figure: highest(all, 'stall'), unit: 'ms' }))
    if (database === 'SQLite') {
      const limit = size <= LARGE ? { max: MAX_STATEMENT_MS } : null
      rows.push(
        row({ name: "slowest statement in the host's thread", figure: highest(all, 'slowest'), unit: 'ms', limit }),
      )
    }
    smaller = results
    return { title: `Pages on ${database}, ${size.toLocaleString('en-US')} occurrences`, rows }
  })
}

function growth(p50, before) {
  return before ? { growth: p50 / before.p50 } : {}
}

function highest(results, what) {
  return Math.max(...results.map((result) => result[what]))
}

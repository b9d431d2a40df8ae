import pg from 'pg'
import { freshDatabase } from './harness/databases.mjs'
import { interleaved, median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'
import { startServer } from './harness/servers.mjs'
import { serverDataset, sqliteDataset } from './pages/build.mjs'
import { WORDS } from './pages/dataset.mjs'
import { REPLAY, trace, tracedPostgres, tracedSqlite } from './pages/traced.mjs'
import { startDashboard } from './pages/visit.mjs'
import { openSqlite } from './write/connections.mjs'

const SIZE = { sqlite: 1_000_000, postgres: 100_000 }
const ROUNDS = { quick: 7, full: 25 }
const FULL_SCAN_SQL = "select error_id from faultboard_error_search where search_text like ? escape '!'"

/** Search texts. The limit is the maximum ratio to a full scan. */
const SEARCHES = [
  ['rare word', WORDS.rare, 0.25],
  ['absent word', WORDS.absent, 0.25],
  ['word of every second error', WORDS.common, 1],
  ['words of every error', 'could not be finished', 1],
  ['place in a backtrace', '/srv/shop/src/area-7/module-3.js:13:8', 1],
  ['two letters of every error', 'st', 1],
  ['two letters of none', 'q~', null],
]

/** Measures search as a ratio to a full scan with `like`, and the cost of maintaining the index. */
export async function* search({ quick, databases }) {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  if (databases.includes('sqlite')) yield { title: searchTitle('SQLite', 'sqlite'), measure: () => onSqlite(rounds) }
  if (!databases.includes('postgres')) return
  const title = searchTitle('PostgreSQL', 'postgres')
  const server = quick ? { missing: '--quick' } : await startServer('postgres')
  if (server.missing) yield { title, skipped: server.missing }
  else yield { title, measure: () => onPostgres(server.url, rounds) }
  await server.stop?.()
}

function searchTitle(name, dialect) {
  return `Search on ${name}, 20,000 groups, ${SIZE[dialect].toLocaleString('en-US')} occurrences`
}

async function onSqlite(rounds) {
  const file = await sqliteDataset(SIZE.sqlite)
  const bare = await openSqlite(file)
  const fullScan = bare.prepare(FULL_SCAN_SQL)
  const rows = await measureAll(rounds, {
    tracker: await startDashboard(await tracedSqlite(file)),
    replay: await REPLAY.sqlite(file),
    runFullScan: (pattern) => fullScan.all(pattern),
  })
  bare.close()
  return [...rows, await measureIndexCost(rounds)]
}

async function onPostgres(server, rounds) {
  const url = await serverDataset('postgres', server, SIZE.postgres)
  const bare = new pg.Client({ connectionString: url })
  await bare.connect()
  await bare.query('set enable_bitmapscan = off')
  const pool = tracedPostgres(url)
  const rows = await measureAll(rounds, {
    tracker: await startDashboard(pool),
    replay: await REPLAY.postgres(url),
    runFullScan: (pattern) => bare.query(FULL_SCAN_SQL.replace('?', '$1'), [pattern]),
  })
  await pool.end()
  await bare.end()
  return rows
}

async function measureAll(rounds, { tracker, replay, runFullScan }) {
  const rows = []
  for (const [name, text, max] of SEARCHES) {
    trace.statements = []
    const { pagination } = await tracker.Queries.ErrorsList.page({ search: text })
    // The other statements of the page do not depend on the search. The suite `pages` measures them.
    const statements = trace.statements.filter(({ sql }) => sql.includes('faultboard_error_search'))
    const times = await interleaved(rounds, ['ours', 'like'], async (subject) => {
      const started = performance.now()
      if (subject === 'ours') await replay.run(statements)
      else await runFullScan(`%${text}%`)
      return performance.now() - started
    })
    const [ours, like] = ['ours', 'like'].map((subject) => median(times.get(subject)))
    const found = `${pagination.total_count}${pagination.total_is_lower_bound ? '+' : ''}`
    rows.push(
      row({
        name,
        figure: ours,
        unit: 'ms',
        ratio: ours / like,
        against: 'like',
        limit: max === null ? null : { max },
        better: 'lower',
        more: { found, statements: statements.length },
      }),
    )
  }
  await tracker.shutdown()
  await replay.close()
  return rows
}

/** Inserts texts with and without the triggers that maintain the index. */
async function measureIndexCost(rounds) {
  const GROUPS = 1000
  const makeText = (i) =>
    `error${i} at step (/srv/shop/src/area-${i % 40}/module-${i % 14}.js:${i}:${i % 80})\n`.repeat(14)
  const times = await interleaved(Math.ceil(rounds / 3), ['indexed', 'plain'], async (subject) => {
    const { url, remove } = await freshDatabase('sqlite', null)
    const db = await openSqlite(url.slice('sqlite:'.length))
    if (subject === 'plain') db.exec('drop trigger faultboard_error_search_index_insert')
    const insert = db.prepare('insert into faultboard_error_search values (?, ?)')
    const started = performance.now()
    for (let i = 0; i < GROUPS; i++) {
      if (i % 250 === 0) db.exec('begin immediate')
      insert.run(i + 1, makeText(i))
      if (i % 250 === 249) db.exec('commit')
    }
    const ms = performance.now() - started
    db.close()
    await remove()
    return ms
  })
  const [indexed, plain] = ['indexed', 'plain'].map((subject) => median(times.get(subject)))
  const figure = ((indexed - plain) * 1000) / GROUPS
  return row({ name: 'index maintenance per new group', figure, unit: 'µs', limit: { max: 500 } })
}

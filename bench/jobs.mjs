import { copyFileSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerCleanup } from '../scripts/services/cleanup.mjs'
import { row } from './harness/report.mjs'
import { sqliteDataset } from './pages/build.mjs'
import { END } from './pages/dataset.mjs'
import { trace, tracedSqlite } from './pages/traced.mjs'
import { startDashboard, watchLoop } from './pages/visit.mjs'
import { openSqlite } from './write/connections.mjs'

const SMALL = 100_000
const LARGE = 1_000_000
const HOUR = 3_600_000
const STORM = 20_000
const MAX_STATEMENT_MS = 20

/** Measures how long scheduled jobs block the thread of a host with SQLite. */
export async function* jobs({ quick, databases }) {
  if (!databases.includes('sqlite')) return
  for (const size of quick ? [SMALL] : [SMALL, LARGE]) {
    const title = `Scheduled jobs on SQLite, ${size.toLocaleString('en-US')} occurrences`
    yield { title, measure: () => measureAll(size) }
  }
}

async function measureAll(size) {
  const file = await copyDataset(await sqliteDataset(size))
  await addStorm(file)
  const tracker = await startDashboard(await tracedSqlite(file))
  const { CascadeDetector, BaselineCalculator } = tracker.Services
  const week = { lookback_hours: 7 * 24 }
  const rows = [
    ...(await measureJob('cascades, first run', () => CascadeDetector.call(week))),
    ...(await measureJob('cascades, hourly run', () => CascadeDetector.call(week))),
    ...(await measureJob('baselines', () => BaselineCalculator.calculateAllBaselines())),
  ]
  await tracker.shutdown()
  return rows
}

async function measureJob(name, work) {
  trace.statements = []
  const watch = watchLoop()
  const started = performance.now()
  await work()
  const ms = performance.now() - started
  const stall = watch.stop()
  const slowest = trace.statements.reduce((most, { ms }) => Math.max(most, ms), 0)
  return [
    row({
      name: `${name}: longest stall`,
      figure: stall,
      unit: 'ms',
      more: { ms, statements: trace.statements.length },
    }),
    row({ name: `${name}: slowest statement`, figure: slowest, unit: 'ms', limit: { max: MAX_STATEMENT_MS } }),
  ]
}

async function copyDataset(file) {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  registerCleanup(() => rm(folder, { recursive: true, force: true }))
  const copy = join(folder, 'jobs.sqlite3')
  copyFileSync(file, copy)
  return copy
}

/** Adds an hour in which twenty errors follow each other. */
async function addStorm(file) {
  const db = await openSqlite(file)
  const ids = db.prepare('select id from faultboard_errors order by id limit 20').all()
  const insert = db.prepare(
    "insert into faultboard_occurrences (error_id, payload_id, occurred_at, platform) values (?, 1, ?, 'Web')",
  )
  db.exec('begin')
  for (let i = 0; i < STORM; i++) {
    insert.run(ids[(i * 7) % ids.length].id, END - 3 * HOUR + Math.floor((i * HOUR) / STORM))
  }
  db.exec('commit')
  db.close()
}

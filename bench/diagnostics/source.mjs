import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TrackerInstance } from '../../dist/tracker.js'
import { median, percentile } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const SOURCES = fileURLToPath(new URL('../../src/dashboard/pages', import.meta.url))
const FRAMES = 10
const MAX_MS = 50
const CREDENTIALS = { dashboard_username: 'bench', dashboard_password: 'bench-password' }

/** Measures the page of an error with frames in ten real files: without source, with source, and with git blame. */
export async function* source({ quick }) {
  yield { title: 'Error page with ten frames in real files', measure: () => measurePages(quick) }
}

async function measurePages(quick) {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  const rows = []
  // Keeps the process alive, as the server of a host would.
  const keepAliveTimer = setInterval(() => {}, 1000)
  try {
    const project_root = project(folder)
    // Warms up, so that the first subject does not pay for compilation.
    await measured(join(folder, 'warm'), { project_root }, true)
    const bare = await measured(join(folder, 'bare'), { project_root: join(folder, 'bare') }, quick)
    const plain = await measured(join(folder, 'plain'), { project_root }, quick)
    const git = await measured(join(folder, 'git'), { project_root, enable_git_blame: true }, quick)
    for (const [name, { first, p50, p95, cpu }] of Object.entries({
      'no source files': bare,
      source: plain,
      'source and git': git,
    })) {
      const against = name === 'no source files' ? {} : { ratio: p50 / bare.p50, against: 'no source files' }
      rows.push(
        row({
          name,
          figure: p95,
          unit: 'ms p95',
          ...against,
          judged: 'figure',
          limit: { max: MAX_MS },
          more: { p50, first, cpu },
        }),
      )
    }
  } finally {
    clearInterval(keepAliveTimer)
    rmSync(folder, { recursive: true, force: true })
  }
  return rows
}

function project(folder) {
  const root = join(folder, 'app')
  cpSync(SOURCES, join(root, 'src'), { recursive: true })
  const git = (...words) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...words])
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--no-gpg-sign', '-m', 'Begin')
  return root
}

async function measured(database, settings, quick) {
  const tracker = new TrackerInstance({
    database: `sqlite:${database}.sqlite3`,
    application_name: 'bench',
    ...CREDENTIALS,
    ...settings,
  })
  await tracker.ready()
  const files = readdirSync(SOURCES).slice(0, FRAMES)
  const { id } = await tracker.Commands.LogError.call({
    error_type: 'BenchError',
    message: 'ten frames',
    backtrace: files.map((file, i) => `at step${i} (src/${file}:${10 + i}:1)`),
  })
  const times = []
  for (let i = 0; i < (quick ? 30 : 150); i++) times.push(await visit(tracker, id))
  await tracker.shutdown()
  const [first, ...repeatVisits] = times
  const all = repeatVisits.map(({ ms }) => ms)
  return {
    first: first.ms,
    p50: median(all),
    p95: percentile(all, 0.95),
    cpu: median(repeatVisits.map(({ cpu }) => cpu)),
  }
}

async function visit(tracker, id) {
  const authorization = `Basic ${Buffer.from(Object.values(CREDENTIALS).join(':')).toString('base64')}`
  const request = new Request(`http://bench/error_dashboard/errors/${id}`, {
    headers: { authorization, accept: 'text/html' },
  })
  const started = performance.now()
  const before = process.cpuUsage()
  const response = await tracker.handle(request, {
    base: '/error_dashboard',
    path: `/errors/${id}`,
    remote_address: null,
  })
  await response.text()
  if (response.status !== 200) throw new Error(`the page returned ${response.status}`)
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - started, cpu: (user + system) / 1000 }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nextMessage, startChild } from './harness/child.mjs'
import { freshDatabase } from './harness/databases.mjs'
import { interleaved, median } from './harness/measure.mjs'
import { row } from './harness/report.mjs'
import { DURABILITY, startServer } from './harness/servers.mjs'
import { BareWriter } from './write/bare-writer.mjs'
import { CONNECT } from './write/connections.mjs'
import { makeEvents } from './write/events.mjs'
import { checkExact } from './write/exactness.mjs'
import { startMinimalTracker, writeJournalFile } from './write/minimal-tracker.mjs'
import { drained, logAll, startTracker } from './write/ours.mjs'
import { foldRows } from './write/rows.mjs'

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL', mysql: 'MariaDB' }
/** Errors per commit of the bare driver. Equals the limit of the tracker, `maxRowsPerFlush` of the dialects. */
const ERRORS_PER_COMMIT = { sqlite: 250, postgres: 1000, mysql: 1000 }
const CALLERS = 2000
const ROUNDS = 2
const PROCESSES = 8
/**
 * Errors that each process writes before the measurement. Otherwise, eight cold processes would be compared with a warm
 * process.
 */
const WARMUP = 4000
const MIN_RATIO_TO_BARE = 0.7
/** Without a server to wait for, folding a hot group is a larger share of the time. */
const MIN_RATIO_TO_BARE_HOT_SQLITE = 0.65
const MIN_RATIO_TO_ONE_PROCESS = 0.8
const MAX_RATIO_TO_BARE_SINGLE = 1.6
const MAX_ACKNOWLEDGMENT_MS = 50
const MINIMAL_NOTE =
  'The lower bound is a minimal tracker: it creates, reads, signs and folds each error within the measured time, and writes the same rows and a batch id with the bare driver. With async_logging, it also writes millisecondsPerError batch to a file before the commit.'

/** Measures committed errors per second, compared with the bare driver and the same rows. Verifies every run. */
export async function* write({ quick, databases }) {
  for (const dialect of databases) {
    const title = `Writing to ${NAMES[dialect]} (${DURABILITY[dialect]})`
    const server = dialect === 'sqlite' ? null : await startServer(dialect)
    if (server?.missing) yield { title, skipped: server.missing }
    else yield { title, measure: () => measureDatabase(dialect, server?.url ?? null, quick) }
    await server?.stop?.()
  }
}

async function measureDatabase(dialect, server, quick) {
  const place = { dialect, server }
  const count = quick ? 5000 : 10_000
  const groups = { name: '200 groups', events: makeEvents({ count, groups: 200 }), min: MIN_RATIO_TO_BARE }
  const minHotGroupRatio = dialect === 'sqlite' ? MIN_RATIO_TO_BARE_HOT_SQLITE : MIN_RATIO_TO_BARE
  const hotGroup = { name: 'one hot group', events: makeEvents({ count, groups: 1 }), min: minHotGroupRatio }
  return [
    ...(await throughput(place, { ...groups, perCommit: ERRORS_PER_COMMIT[dialect] })),
    // Like Faultboard, the minimal tracker writes all callers of a hot group in one commit.
    ...(await throughput(place, { ...hotGroup, perCommit: CALLERS })),
    ...(await processes(place, { count })),
    ...(await measureSingleCalls(place, { events: makeEvents({ count: quick ? 150 : 300, groups: 20 }) })),
    ...(await measureAcknowledgments(place, makeEvents({ count: quick ? 200 : 500, groups: 20 }))),
  ]
}

/** Statements whose locks block every flush until the connection commits. */
const LOCK = {
  sqlite: null,
  postgres: 'lock table faultboard_batches',
  mysql: 'select count(*) from faultboard_batches for update',
}

/**
 * Measures how long a caller waits with async_logging while another connection locks the database. The control writes
 * and renames a file with the same content before each call, so that both run under the same load.
 */
async function measureAcknowledgments({ dialect, server }, events) {
  const folder = await mkdtemp(join(tmpdir(), 'faultboard-bench-files-'))
  const bare = []
  const ours = []
  await withFreshDatabase(dialect, server, events.length, 'acknowledgments', async (url) => {
    const tracker = await startTracker(url, { async_logging: true })
    const holder = await CONNECT[dialect](url)
    await holder.begin()
    if (LOCK[dialect]) await holder.all(LOCK[dialect])
    for (const event of events) {
      bare.push(await measureMs(() => writeJournalFile(join(folder, `${bare.length}.json`), event)))
      ours.push(await measureMs(() => logAll(tracker, [event], 1)))
    }
    await holder.commit()
    await holder.close()
    await drained(tracker)
    await tracker.shutdown()
  }).finally(() => rm(folder, { recursive: true, force: true }))
  return [
    row({ name: 'bare write and rename of a file: p99', ...waitFigures(bare) }),
    row({
      name: 'async acknowledgment while the database is locked: p99',
      ...waitFigures(ours),
      ...{ ratio: percentile(ours, 0.99) / percentile(bare, 0.99), against: 'bare file' },
      ...{ judged: 'figure', limit: { max: MAX_ACKNOWLEDGMENT_MS } },
    }),
  ]
}

async function measureMs(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function waitFigures(times) {
  const more = { 'p50 ms': percentile(times, 0.5), 'max ms': percentile(times, 1) }
  return { figure: percentile(times, 0.99), unit: 'ms', more }
}

function percentile(times, share) {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

async function throughput({ dialect, server }, { name, events, min, perCommit }) {
  const writers = {
    bare: (url) => writeBare(dialect, url, events, ERRORS_PER_COMMIT[dialect]),
    'ours, sync': (url) => writeOurs(url, events, { async_logging: false }),
    'ours, async': (url) => writeOurs(url, events, { async_logging: true }),
    'minimal, sync': (url) => writeMinimal(dialect, url, events, { perCommit }),
    'minimal, async': (url) => writeMinimal(dialect, url, events, { perCommit, journal: true }),
  }
  const failures = new Map()
  const results = await interleaved(ROUNDS, Object.keys(writers), (writer) =>
    withFreshDatabase(dialect, server, events.length, `${name}, ${writer}`, writers[writer]).catch((error) => {
      // A run that lost errors has no rate. The table shows the failure, and only the other runs count.
      failures.set(writer, `${name}, ${writer}: ${error.message}`)
      return { seconds: Number.POSITIVE_INFINITY, cpu: Number.POSITIVE_INFINITY }
    }),
  )
  const medianOf = (writer, field) => median(results.get(writer).map((result) => result[field]))
  const rate = (writer) => events.length / medianOf(writer, 'seconds')
  const resultRow = (writer, more = {}) =>
    row({
      name: `${name}: ${writer}`,
      figure: rate(writer),
      more: { 'CPU µs of the process': (medianOf(writer, 'cpu') * 1e6) / events.length },
      note: failures.get(writer) ?? MINIMAL_NOTE,
      unit: 'errors/s',
      ...more,
    })
  return [
    resultRow('bare'),
    ...['sync', 'async'].map((mode) =>
      resultRow(`ours, ${mode}`, {
        ratio: rate(`ours, ${mode}`) / rate('bare'),
        against: 'bare driver',
        limit: { min },
        bound: rate(`minimal, ${mode}`) / rate('bare'),
      }),
    ),
  ]
}

async function processes({ dialect, server }, { count }) {
  const runs = ['ours', 'minimal'].flatMap((subject) => [1, PROCESSES].map((size) => `${subject} ${size}`))
  const results = await interleaved(ROUNDS, runs, (run) => {
    const [subject, size] = run.split(' ')
    return withFreshDatabase(dialect, server, count + size * WARMUP, `${run} processes`, (url) =>
      writeFromProcesses({ subject, dialect, url }, count, Number(size)),
    )
  })
  const rate = (subject, size) => count / median(results.get(`${subject} ${size}`).map(({ seconds }) => seconds))
  return [
    row({ name: 'one hot group, 1 process', figure: rate('ours', 1), unit: 'errors/s' }),
    row({
      name: `one hot group, ${PROCESSES} processes`,
      figure: rate('ours', PROCESSES),
      unit: 'errors/s',
      ratio: rate('ours', PROCESSES) / rate('ours', 1),
      against: 'one process',
      limit: { min: MIN_RATIO_TO_ONE_PROCESS },
      // Compared with one Faultboard process: a faster single process of the minimal tracker must not lower the bound.
      bound: rate('minimal', PROCESSES) / rate('ours', 1),
      more: {
        'minimal tracker, 1 process': rate('minimal', 1),
        [`${PROCESSES} processes`]: rate('minimal', PROCESSES),
      },
      note: MINIMAL_NOTE,
    }),
  ]
}

async function measureSingleCalls({ dialect, server }, { events }) {
  const writers = {
    'bare commit': (url) => writeBare(dialect, url, events, 1),
    'awaited LogError': (url) => writeOurs(url, events, { callers: 1 }),
    minimal: (url) => writeMinimal(dialect, url, events, { perCommit: 1 }),
  }
  const results = await interleaved(ROUNDS, Object.keys(writers), (writer) =>
    withFreshDatabase(dialect, server, events.length, `single ${writer}`, writers[writer]),
  )
  const millisecondsPerError = (writer) =>
    (median(results.get(writer).map(({ seconds }) => seconds)) * 1000) / events.length
  return [
    row({ name: 'sequential: bare commit', figure: millisecondsPerError('bare commit'), unit: 'ms' }),
    row({
      name: 'sequential: awaited LogError',
      figure: millisecondsPerError('awaited LogError'),
      unit: 'ms',
      ratio: millisecondsPerError('awaited LogError') / millisecondsPerError('bare commit'),
      against: 'bare commit',
      limit: { max: MAX_RATIO_TO_BARE_SINGLE },
      bound: millisecondsPerError('minimal') / millisecondsPerError('bare commit'),
      note: MINIMAL_NOTE,
    }),
  ]
}

/** Measures work on a new database and verifies its sums afterward. */
async function withFreshDatabase(dialect, server, count, label, work) {
  const database = await freshDatabase(dialect, server)
  try {
    const result = await work(database.url)
    await checkExact(dialect, database.url, count, label)
    return result
  } finally {
    await database.remove()
  }
}

async function writeBare(dialect, url, events, perCommit) {
  const connection = await CONNECT[dialect](url)
  const writer = new BareWriter(connection)
  await writer.open()
  const now = Date.now()
  const batches = []
  for (let from = 0; from < events.length; from += perCommit) {
    batches.push(foldRows(events.slice(from, from + perCommit), now))
  }
  const elapsed = stopwatch()
  for (const batch of batches) await writer.write(batch)
  const result = elapsed()
  await connection.close()
  return result
}

async function writeMinimal(dialect, url, events, { perCommit, journal }) {
  const tracker = await startMinimalTracker(dialect, url, { journal })
  const elapsed = stopwatch()
  await tracker.log(events, perCommit)
  const result = elapsed()
  await tracker.close()
  return result
}

async function writeOurs(url, events, { async_logging = false, callers = CALLERS }) {
  const tracker = await startTracker(url, { async_logging })
  const elapsed = stopwatch()
  await logAll(tracker, events, callers)
  await drained(tracker)
  const result = elapsed()
  await tracker.shutdown()
  return result
}

/** Wall-clock seconds, and CPU seconds of this process, which other load affects least. */
function stopwatch() {
  const started = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 }
  }
}

async function writeFromProcesses(subject, count, processes) {
  const file = fileURLToPath(new URL('write/process-child.mjs', import.meta.url))
  const task = { ...subject, warmup: WARMUP, count: count / processes, groups: 1, callers: CALLERS / processes }
  const children = Array.from({ length: processes }, (_, i) => startChild(file, { ...task, seed: i + 1 }))
  const waitForChildren = (word) =>
    Promise.all(children.map((child) => nextMessage(child).then((message) => message === word)))
  await waitForChildren('ready')
  const elapsed = stopwatch()
  for (const child of children) child.send('go')
  await waitForChildren('done')
  const result = elapsed()
  const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
  for (const child of children) child.send('end')
  await Promise.all(ended)
  return result
}

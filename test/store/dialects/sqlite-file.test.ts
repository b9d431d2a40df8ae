import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import type { Health } from '../../../src/health/report.js'
import { sql } from '../../../src/store/kysely.js'
import { integrityProblems, repairSqlite } from '../../../src/store/repair/repair-sqlite.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { startHost } from '../../support/host.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { eventually, NOON, spoolIsEmpty, temporaryFolder, trackerAt, withDatabase } from '../../support/tracker.js'

/** Returns a new folder with a database with the schema. */
function newPlace() {
  const place = emptyPlace()
  copyFileSync(inject('templates').sqlite ?? '', place.file)
  return place
}

function emptyPlace() {
  const folder = temporaryFolder()
  const file = join(folder, 'errors.sqlite3')
  return { file, url: `sqlite:${file}`, spool_path: join(folder, 'spool') }
}

/** Creates a tracker with its dashboard. */
async function hostAt({ url, spool_path }: ReturnType<typeof newPlace>) {
  const host = await startHost(url, { spool_path }, { now: () => NOON })
  onTestFinished(() => host.close())
  return { ...host, health: async () => (await host.json('/health')) as unknown as Health }
}

const log = async (tracker: TrackerInstance, error_type: string, count = 1) => {
  const receipts = await Promise.all(
    Array.from({ length: count }, () => tracker.Commands.LogError.call({ error_type, message: 'm' })),
  )
  return receipts.map((receipt) => receipt?.state)
}

/** Reads the file by its path with a new connection. */
const countsIn = (url: string) =>
  withDatabase(url, async ({ read }) => {
    const rows = await read.selectFrom('faultboard_errors').select(['error_type', 'occurrence_count']).execute()
    return Object.fromEntries(rows.map(({ error_type, occurrence_count }) => [error_type, occurrence_count]))
  })

const removeDatabase = (file: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}

const checkpoint = (url: string) =>
  withDatabase(url, ({ read }) => sql`pragma wal_checkpoint(truncate)`.execute(read).then(() => undefined))

/** Overwrites a fifth of the file after the schema pages, at fixed pseudorandom offsets. */
function damage(file: string): void {
  const { size } = statSync(file)
  const garbage = Buffer.alloc(3000)
  const start = Math.floor(size / 4)
  const descriptor = openSync(file, 'r+')
  // Some seeds damage the first page of the errors, so that no row can be recovered.
  let state = 4242
  const next = () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state
  }
  const blocks = size / 15_000
  for (let i = 0; i < blocks; i++) {
    for (let byte = 0; byte < garbage.length; byte++) garbage[byte] = next() % 256
    writeSync(descriptor, garbage, 0, garbage.length, start + (next() % (size - start - garbage.length)))
  }
  closeSync(descriptor)
}

/** Overwrites the first page of a table and those of its indexes. */
async function overwriteRoot({ file, url }: ReturnType<typeof newPlace>, table: string): Promise<void> {
  const { pages, size } = await withDatabase(url, async ({ read }) => {
    const { rows } = await sql<{ rootpage: number }>`
      select rootpage from sqlite_master where tbl_name = ${table} and rootpage > 0`.execute(read)
    const bytes = await sql<{ page_size: number }>`pragma page_size`.execute(read)
    return { pages: rows.map(({ rootpage }) => rootpage), size: bytes.rows[0]?.page_size ?? 0 }
  })
  const descriptor = openSync(file, 'r+')
  for (const page of pages) writeSync(descriptor, Buffer.alloc(size, 0xa7), 0, size, (page - 1) * size)
  closeSync(descriptor)
}

/** Records several megabytes of errors, each with a unique long backtrace. */
async function fill(tracker: TrackerInstance, groups: number, user_id?: string): Promise<void> {
  const name = (i: number) => `Group${[...String(i)].map((digit) => 'ABCDEFGHIJ'.charAt(Number(digit))).join('')}`
  for (let from = 0; from < groups; from += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, groups - from) }, (_, i) =>
        tracker.Commands.LogError.call({
          error_type: name(from + i),
          message: `message of ${name(from + i)}`,
          ...(user_id === undefined ? {} : { user_id }),
          backtrace: Array.from(
            { length: 40 },
            (_, line) => `at ${name(from + i)}${line} (src/${name(line)}.js:${line + 1}:1)`,
          ),
        }),
      ),
    )
  }
}

/** Reads every error until SQLite reports the damage. */
async function readUntilDamage(tracker: TrackerInstance, groups: number): Promise<unknown> {
  for (let error_id = 1; error_id <= groups; error_id++) {
    try {
      await tracker.Queries.FindError.call({ error_id })
    } catch (error) {
      if ((error as { code?: string }).code !== 'not_found') return error
    }
  }
  return null
}

describe('deletion of an open SQLite file', () => {
  test('recreates a deleted file without losing an error acknowledged after the deletion', async () => {
    const storage = newPlace()
    const { tracker, lines } = trackerAt(storage)
    expect(await log(tracker, 'Before', 3)).toEqual(['recorded', 'recorded', 'recorded'])
    removeDatabase(storage.file)
    let acknowledged = 0
    for (let i = 0; i < 20; i++) acknowledged += (await log(tracker, 'After', 5)).filter((state) => state).length
    expect(acknowledged).toBe(100)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect(await countsIn(storage.url)).toEqual({ After: 100 })
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({ total_errors: 1, total_occurrences: 100 })
    expect(lines.join('')).toContain('was deleted or replaced while it was open')
  })

  test('recreates a deleted file when a page reads it', async () => {
    const storage = newPlace()
    const { tracker } = trackerAt(storage)
    await log(tracker, 'Before')
    removeDatabase(storage.file)
    await eventually(async () => {
      const stats = await tracker.Queries.DashboardStats.call().catch(() => null)
      return stats?.total_errors === 0
    }, 'the page shows the new file')
    expect(await log(tracker, 'After')).toEqual(['recorded'])
    expect(await countsIn(storage.url)).toEqual({ After: 1 })
  })

  test('uses one new file for two trackers', async () => {
    const storage = newPlace()
    const [first, second] = [trackerAt(storage).tracker, trackerAt(storage).tracker]
    await Promise.all([log(first, 'Before'), log(second, 'Before')])
    removeDatabase(storage.file)
    for (let i = 0; i < 10; i++) await Promise.all([log(first, 'First', 2), log(second, 'Second', 2)])
    await eventually(async () => (await spoolIsEmpty(first)) && (await spoolIsEmpty(second)), 'the spool is imported')
    expect(await countsIn(storage.url)).toEqual({ First: 20, Second: 20 })
    expect(await integrityProblems(storage.file)).toEqual([])
  })

  test('reports the deletion on the health page', async () => {
    const storage = newPlace()
    const { tracker, health: healthNow } = await hostAt(storage)
    await log(tracker, 'Before')
    removeDatabase(storage.file)
    await log(tracker, 'After', 2)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    const health = await healthNow()
    expect(health.database).toMatchObject({ reachable: true, replaced_count: 1, damage: null })
    expect(health.reasons.map(({ message: sentence }) => sentence).join()).toContain('was deleted or replaced')
  })
})

describe('replacement of an open SQLite file', () => {
  test('uses the new file without the write-ahead log of the old file', async () => {
    const [storage, other] = [newPlace(), newPlace()]
    const before = trackerAt(other)
    await log(before.tracker, 'Other', 2)
    await checkpoint(other.url)
    await before.tracker.shutdown()
    const { tracker } = trackerAt(storage)
    await log(tracker, 'Before', 3)
    // Any use within a second detects which log belongs to the open file.
    await eventually(async () => {
      await log(tracker, 'Before')
      return statSync(`${storage.file}-wal`).size > 0
    }, 'the old file has a write-ahead log')
    renameSync(other.file, storage.file)
    await log(tracker, 'After', 4)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect(await countsIn(storage.url)).toEqual({ Other: 2, After: 4 })
    expect(await integrityProblems(storage.file)).toEqual([])
  })
})

describe('recovery from a damaged SQLite file', () => {
  test('stops writing after a page detects damage, until the file is repaired', { timeout: 120_000 }, async () => {
    const storage = newPlace()
    const { tracker, lines, get, health: healthNow } = await hostAt(storage)
    await fill(tracker, 200)
    await checkpoint(storage.url)
    damage(storage.file)
    expect(await readUntilDamage(tracker, 200)).not.toBeNull()
    expect(new Set(await log(tracker, 'After', 40))).toEqual(new Set(['spooled']))
    expect((await tracker.stats()).unavailable_since).not.toBeNull()
    expect(lines.join('')).toContain('faultboard check --repair')
    const health = await healthNow()
    expect(health.state).toBe('failing')
    expect(health.database.damage).not.toBeNull()
    expect(health.reasons.map(({ message: sentence }) => sentence).join()).toContain('npx faultboard check --repair')
    for (const path of ['/health', '/settings']) {
      expect(await (await get(path)).text()).toContain('title="Health: failing"')
    }
    await expect(tracker.Queries.DashboardStats.call()).rejects.toMatchObject({ code: 'database_unavailable' })

    const { backup, tables } = await repairSqlite(storage.file, NOON)
    const copied = (table: string) => tables.find((result) => result.table === table)?.copied ?? 0
    expect(copied('faultboard_errors')).toBeGreaterThan(0)
    expect(copied('faultboard_errors')).toBeLessThanOrEqual(200)
    expect(statSync(backup).size).toBeGreaterThan(0)
    expect(await integrityProblems(storage.file)).toEqual([])

    await eventually(() => spoolIsEmpty(tracker), 'the repaired file is used')
    const counts = await countsIn(storage.url)
    expect(counts.After).toBe(40)
    expect(Object.keys(counts).length).toBeGreaterThan(1)
    expect(await log(tracker, 'After')).toEqual(['recorded'])
    expect((await tracker.Queries.DashboardStats.call()).total_errors).toBe(copied('faultboard_errors') + 1)
    expect((await healthNow()).database.damage).toBeNull()
    await verifiedCounts(storage.url)
  })

  test('stops writing when only pages that recording never reads are damaged', async () => {
    const storage = newPlace()
    const before = trackerAt(storage)
    await log(before.tracker, 'Before')
    await checkpoint(storage.url)
    await before.tracker.shutdown()
    await overwriteRoot(storage, 'faultboard_comments')
    const { tracker, json } = await hostAt(storage)
    expect(await log(tracker, 'Unnoticed')).toEqual(['recorded'])
    expect((await json('/errors/1')).status).toBe(503)
    expect(new Set(await log(tracker, 'After', 40))).toEqual(new Set(['spooled']))
    await repairSqlite(storage.file, NOON)
    await eventually(() => spoolIsEmpty(tracker), 'the repaired file is used')
    expect(await countsIn(storage.url)).toEqual({ Before: 1, Unnoticed: 1, After: 40 })
  })

  test('recovers sums that match the counts of the errors', { timeout: 120_000 }, async () => {
    const storage = newPlace()
    const { tracker, clock } = trackerAt(storage)
    for (let round = 0; round < 3; round++) {
      clock.now = NOON + round * 7_200_000
      await fill(tracker, 40, `user-${round}`)
    }
    await checkpoint(storage.url)
    await tracker.shutdown()
    const before = await verifiedCounts(storage.url)
    damage(storage.file)
    const { tables } = await repairSqlite(storage.file, NOON)
    expect(tables.filter(({ unreadable }) => unreadable !== 0)).not.toEqual([])
    const after = await verifiedCounts(storage.url)
    expect(Object.keys(after.counts).length).toBeGreaterThan(0)
    // A damaged row can be readable with wrong values. It counts at least once.
    const exact = Object.entries(after.counts).filter(([error, count]) => count === before.counts[error])
    expect(exact.length).toBeGreaterThan(Object.keys(after.counts).length / 2)
    for (const count of Object.values(after.counts)) expect(count).toBeGreaterThan(0)
  })

  test.each([
    'faultboard_error_hours',
    'faultboard_application_hours',
    'faultboard_type_days',
    'faultboard_error_users',
    'faultboard_error_search',
  ])('recounts lost rows of %s', { timeout: 120_000 }, async (table) => {
    const storage = newPlace()
    const { tracker, clock } = trackerAt(storage)
    for (const [hours, user_id] of ['ada', 'ada', 'bob'].entries()) {
      clock.now = NOON + hours * 3_600_000
      await tracker.Commands.LogError.call({ error_type: 'Repeated', message: 'm', user_id, app_version: '1.0' })
    }
    clock.now = NOON
    await log(tracker, 'Other', 2)
    await checkpoint(storage.url)
    await tracker.shutdown()
    const rowsOf = (name: 'faultboard_error_hours' | 'faultboard_error_users' | 'faultboard_error_search') =>
      withDatabase(storage.url, ({ read }) => read.selectFrom(name).selectAll().orderBy('error_id').execute())
    const [hours, users, texts] = [
      await rowsOf('faultboard_error_hours'),
      await rowsOf('faultboard_error_users'),
      await rowsOf('faultboard_error_search'),
    ]
    const before = await verifiedCounts(storage.url)
    await overwriteRoot(storage, table)
    const { undated } = await repairSqlite(storage.file, NOON)
    expect(undated).toBe(0)
    expect(await verifiedCounts(storage.url)).toEqual(before)
    expect(await rowsOf('faultboard_error_hours')).toEqual(hours)
    expect(await rowsOf('faultboard_error_users')).toEqual(users)
    expect(await rowsOf('faultboard_error_search')).toEqual(texts)
  })

  test('counts occurrences with a lost time in the first hour of their error', {
    timeout: 120_000,
  }, async () => {
    const storage = newPlace()
    const { tracker, clock } = trackerAt(storage)
    await log(tracker, 'Storm', 3)
    clock.now = NOON + 86_400_000
    await log(tracker, 'Storm', 4)
    await checkpoint(storage.url)
    await tracker.shutdown()
    await overwriteRoot(storage, 'faultboard_error_hours')
    await overwriteRoot(storage, 'faultboard_occurrences')
    expect((await repairSqlite(storage.file, NOON)).undated).toBe(7)
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Storm': 7 })
    const hours = await withDatabase(storage.url, ({ read }) =>
      read.selectFrom('faultboard_error_hours').select(['hour', 'count']).execute(),
    )
    expect(hours).toEqual([{ hour: NOON, count: 7 }])
  })

  test('shows an occurrence without a backtrace when only its backtrace is lost', { timeout: 120_000 }, async () => {
    const storage = newPlace()
    const before = trackerAt(storage)
    await fill(before.tracker, 1)
    await checkpoint(storage.url)
    await before.tracker.shutdown()
    await overwriteRoot(storage, 'faultboard_payloads')
    await repairSqlite(storage.file, NOON)
    await verifiedCounts(storage.url)
    const { tracker } = trackerAt(storage)
    await tracker.Commands.LogError.call({
      error_type: 'Later',
      message: 'm',
      backtrace: ['at later (src/later.js:1:1)'],
    })
    const [error] = await tracker.Queries.ErrorsList.call({ error_type: 'GroupA' })
    const found = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
    expect(found).toMatchObject({ occurrence_count: 1, backtrace: [] })
  })

  test('refuses a file that was truncated after a kill', async () => {
    const [source, storage] = [newPlace(), newPlace()]
    const { tracker } = trackerAt(source)
    await fill(tracker, 60)
    await checkpoint(source.url)
    await log(tracker, 'Later', 5)
    copyFileSync(source.file, storage.file)
    copyFileSync(`${source.file}-wal`, `${storage.file}-wal`)
    truncateSync(storage.file, Math.floor(statSync(storage.file).size / 2))
    const cut = trackerAt(storage)
    expect(new Set(await log(cut.tracker, 'After', 40))).toEqual(new Set(['spooled']))
    expect(cut.lines.join('')).toContain('faultboard check --repair')
  })

  test('refuses a file that was truncated after a clean shutdown', {
    timeout: 120_000,
  }, async () => {
    const [source, storage] = [newPlace(), newPlace()]
    const before = trackerAt(source)
    await fill(before.tracker, 120)
    await checkpoint(source.url)
    await before.tracker.shutdown()
    copyFileSync(source.file, storage.file)
    truncateSync(storage.file, Math.floor(statSync(storage.file).size / 2))
    const { tracker } = trackerAt(storage)
    expect(new Set(await log(tracker, 'After', 40))).toEqual(new Set(['spooled']))
    const { tables } = await repairSqlite(storage.file, NOON)
    expect(tables.find(({ table }) => table === 'faultboard_errors')?.copied).toBeGreaterThan(0)
    await eventually(() => spoolIsEmpty(tracker), 'the repaired file is used')
    expect((await countsIn(storage.url)).After).toBe(40)
  })

  test.each([
    ['the header', 0, 100],
    ['the rows of the schema on its first page', 100, 4096],
    ['all of its first page', 0, 4096],
  ])('recovers a file without %s', { timeout: 120_000 }, async (_part, from, to) => {
    const storage = newPlace()
    const { tracker } = trackerAt(storage)
    await fill(tracker, 30)
    await tracker.Commands.LogError.call({ error_type: 'BinaryText', message: 'Unexpected token \ufffd' })
    await checkpoint(storage.url)
    await tracker.shutdown()
    const copy = `${storage.file}.copy`
    copyFileSync(storage.file, copy)
    const descriptor = openSync(copy, 'r+')
    writeSync(descriptor, Buffer.alloc(to - from, 0xa7), 0, to - from, from)
    closeSync(descriptor)
    expect(await integrityProblems(copy)).not.toEqual([])
    const { tables } = await repairSqlite(copy, NOON)
    expect(tables.filter(({ unreadable }) => unreadable !== 0)).toEqual([])
    expect(await countsIn(`sqlite:${copy}`)).toEqual(await countsIn(storage.url))
  })

  test.each([
    ['a damaged statement in its schema', 'CREATE TABLE "faultboard_processes"', 40, ['faultboard_processes']],
    ['a damaged format and encoding in its header', 'SQLite format 3', 40, []],
  ])('recovers a file with %s', async (_, text, offset, lost) => {
    const storage = newPlace()
    const { tracker } = trackerAt(storage)
    await log(tracker, 'Before', 3)
    await checkpoint(storage.url)
    await tracker.shutdown()
    const content = readFileSync(storage.file)
    const start = content.indexOf(text) + offset
    writeFileSync(storage.file, content.fill('?', start, start + 20))
    const { tables } = await repairSqlite(storage.file, NOON)
    expect(tables.filter(({ unreadable }) => unreadable !== 0).map(({ table }) => table)).toEqual(lost)
    expect(await countsIn(storage.url)).toEqual({ Before: 3 })
  })

  test('creates an empty database when nothing is readable', async () => {
    const storage = newPlace()
    writeFileSync(storage.file, 'not a database, but as long as the header of one '.repeat(100))
    const { tracker } = trackerAt(storage)
    expect(await log(tracker, 'After', 2)).toEqual(['spooled', 'spooled'])
    expect((await repairSqlite(storage.file, NOON)).tables.every(({ copied }) => copied === 0)).toBe(true)
    await eventually(() => spoolIsEmpty(tracker), 'the new file is used')
    expect(await countsIn(storage.url)).toEqual({ After: 2 })
  })

  test('uses a restored backup', async () => {
    const [source, storage] = [newPlace(), newPlace()]
    const before = trackerAt(source)
    await log(before.tracker, 'Before', 2)
    await checkpoint(source.url)
    await before.tracker.shutdown()
    copyFileSync(source.file, `${storage.file}.backup`)
    writeFileSync(storage.file, 'not a database, but as long as the header of one '.repeat(100))
    const { tracker } = trackerAt(storage)
    expect(await log(tracker, 'After')).toEqual(['spooled'])
    renameSync(`${storage.file}.backup`, storage.file)
    await eventually(() => spoolIsEmpty(tracker), 'the backup is used')
    expect(await countsIn(storage.url)).toEqual({ Before: 2, After: 1 })
  })
})

test('moves the write-ahead log into the file on shutdown', async () => {
  const storage = newPlace()
  const { tracker } = trackerAt(storage)
  await log(tracker, 'Error', 5)
  await tracker.Queries.DashboardStats.call()
  await tracker.shutdown()
  expect(statSync(`${storage.file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  const copy = newPlace()
  copyFileSync(storage.file, copy.file)
  expect(await countsIn(copy.url)).toEqual({ Error: 5 })
})

describe('the mode of an SQLite file', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

  test('restricts the file and its logs to the owner', async () => {
    // The umask alone would let other users read the file.
    expect(process.umask() & 0o044).toBe(0)
    const storage = emptyPlace()
    const { tracker } = trackerAt(storage)
    await log(tracker, 'Error')
    expect(['', '-wal', '-shm'].map((suffix) => modeOf(`${storage.file}${suffix}`))).toEqual(['600', '600', '600'])
  })

  test('does not change the mode of an existing file', async () => {
    const storage = emptyPlace()
    writeFileSync(storage.file, '', { mode: 0o644 })
    const { tracker } = trackerAt(storage)
    await log(tracker, 'Error')
    expect(modeOf(storage.file)).toBe('644')
  })
})

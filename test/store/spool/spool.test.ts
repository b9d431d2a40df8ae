import { spawnSync } from 'node:child_process'
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { runChild } from '../../support/processes/children.js'
import { sums, verifiedCounts } from '../../support/stored-counts.js'
import {
  CREDENTIALS,
  freshStorage,
  spoolIsEmpty,
  type TrackerStorage,
  temporaryFolder,
  trackerAt,
} from '../../support/tracker.js'

const asRoot = process.getuid?.() === 0

describeEachDatabase('the spool folder', (database) => {
  test('creates the folder and its files with private permissions', async () => {
    const storage = await freshStorage(database)
    const spool_path = join(storage.spool_path, 'new', 'folder')
    await spoolSome({ ...storage, spool_path }, 3)
    expect(statSync(spool_path).mode & 0o777).toBe(0o700)
    const files = readdirSync(spool_path)
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) expect(statSync(join(spool_path, file)).mode & 0o777).toBe(0o600)
  })

  test('the spool folder stays within spool_max_bytes and counts errors that do not fit', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt({ ...storage, url: await nowhere() }, { spool_max_bytes: 20_000 })
    let lost = 0
    for (let i = 0; i < 60; i++) {
      const logged = await tracker.Commands.LogError.call({ error_type: `Full${i}`, message: 'x'.repeat(500) })
      if (logged === null) lost++
    }
    const { spool, dropped } = await tracker.stats()
    expect(spool.bytes).toBeLessThanOrEqual(20_000)
    expect(spool.bytes).toBe(bytesIn(storage.spool_path))
    expect(lost).toBeGreaterThan(0)
    expect(dropped.spool_full).toBe(lost)
    await tracker.shutdown()
    await importAll(storage)
    const { counts } = await verifiedCounts(storage.url)
    expect(Object.values(counts)).toEqual(Array(60 - lost).fill(1))
  })

  test('keeps fewer rows above half of its limit while the counts stay exact', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt({ ...storage, url: await nowhere() }, { spool_max_bytes: 200_000 })
    for (let i = 0; i < 12; i++) {
      const event = { error_type: 'Thin', message: 'x'.repeat(300), user_id: i }
      const logged = await Promise.all(Array.from({ length: 50 }, () => tracker.Commands.LogError.call(event)))
      expect(logged.map((record) => record?.state)).toEqual(Array(50).fill('spooled'))
    }
    await tracker.shutdown()
    await importAll(storage)
    const { counts, users, rows } = await verifiedCounts(storage.url)
    expect(counts).toEqual({ 'shop Thin': 600 })
    expect(Object.values(users)).toEqual(Array(12).fill(50))
    expect(rows).toBeLessThan(600)
  })

  test('sets aside a damaged file and imports all other files', async () => {
    const storage = await freshStorage(database)
    await spoolSome(storage, 4)
    const [first = '', second = '', third = ''] = readdirSync(storage.spool_path).sort()
    const at = (name: string) => join(storage.spool_path, name)
    writeFileSync(at(first), 'not json at all')
    const text = readFileSync(at(second), 'utf8')
    writeFileSync(at(second), text.slice(0, text.indexOf('\n')))
    writeFileSync(at(third), `${readFileSync(at(third), 'utf8').split('\n')[0]}\n{"first":{},"count":"many"}`)
    mkdirSync(at('batch-000000000000000-folder.ndjson'))
    writeFileSync(at('notes.txt'), 'of another user')
    await importAll(storage)
    expect(readdirSync(storage.spool_path).sort()).toEqual(
      ['batch-000000000000000-folder.ndjson', first, second, third].map((name) => `${name}.failed`).concat('notes.txt'),
    )
    expect(readFileSync(at(`${first}.failed`), 'utf8')).toBe('not json at all')
    expect(Object.values((await verifiedCounts(storage.url)).counts)).toEqual([1])
  })

  test('refuses a symbolic link', async () => {
    const storage = await freshStorage(database)
    const link = join(temporaryFolder(), 'link')
    symlinkSync(storage.spool_path, link)
    await expectRefusal({ url: await nowhere(), spool_path: link })
    expect(readdirSync(storage.spool_path)).toEqual([])
  })

  test.skipIf(!asRoot)(`refuses a folder of another user${asRoot ? '' : ' (skipped: needs root)'}`, async () => {
    const storage = await freshStorage(database)
    await spoolSome(storage, 1)
    chownSync(storage.spool_path, 12_345, 12_345)
    await expectRefusal({ url: await nowhere(), spool_path: storage.spool_path })
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await tracker.flush()
    // Files in such a folder may be forged, so they are not imported either.
    expect((await verifiedCounts(storage.url)).counts).toEqual({})
  })

  test('releases the claims of dead processes and deletes their unfinished files', async () => {
    const storage = await freshStorage(database)
    await spoolSome(storage, 3)
    const [first = '', second = ''] = readdirSync(storage.spool_path).sort()
    const at = (name: string) => join(storage.spool_path, name)
    const { pid: dead } = spawnSync(process.execPath, ['--version'])
    renameSync(at(first), at(`${first}.importing-${dead}-aaaaaaaa`))
    // File of an earlier process with the same pid. In a container, every process has pid 1.
    renameSync(at(second), at(`${second}.importing-${process.pid}-bbbbbbbb`))
    const [abandoned, recent] = ['1', '2'].map((id) => `batch-${id}.ndjson.importing-${dead}-aaaaaaaa.tmp`) as [
      string,
      string,
    ]
    for (const name of [abandoned, recent]) writeFileSync(at(name), 'half a ')
    utimesSync(at(abandoned), 0, 0)
    await importAll(storage)
    // A process in another container cannot be checked from here.
    expect(readdirSync(storage.spool_path)).toEqual([recent])
    expect(Object.values((await verifiedCounts(storage.url)).counts)).toEqual([1, 1, 1])
  })

  test('respects the claims of running processes', async () => {
    const storage = await freshStorage(database)
    await spoolSome(storage, 1)
    const [name = ''] = readdirSync(storage.spool_path)
    const claimed = `${name}.importing-${process.ppid}-aaaaaaaa`
    renameSync(join(storage.spool_path, name), join(storage.spool_path, claimed))
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await tracker.flush()
    expect(readdirSync(storage.spool_path)).toEqual([claimed])
  })

  test('counts every error once when several processes import', async () => {
    const storage = await freshStorage(database)
    await spoolSome(storage, 40, { copies: 5 })
    // Copies of the batches under other names, as claimed by two processes in different containers.
    for (const name of readdirSync(storage.spool_path)) {
      const text = readFileSync(join(storage.spool_path, name))
      writeFileSync(join(storage.spool_path, `batch-0-again-${basename(name)}`), text)
    }
    const settings = { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, application_name: 'shop' }
    await Promise.all(
      Array.from({ length: 2 }, () =>
        runChild('record', { settings, events: [{ error_type: 'Importer', message: 'here' }] }),
      ),
    )
    await importAll(storage)
    const { counts } = await verifiedCounts(storage.url)
    expect(counts['shop Importer']).toBe(2)
    expect(sums(Object.values(counts), () => 'all', Number)).toEqual({ all: 2 + 40 * 5 })
    expect(readdirSync(storage.spool_path)).toEqual([])
  })

  test('a full spool folder does not stop async_logging while the database is available', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { async_logging: true, spool_max_bytes: 0 })
    const logged = await tracker.Commands.LogError.call({ error_type: 'NoRoom', message: 'async' })
    expect(logged?.state).toBe('accepted')
    await tracker.flush()
    expect((await tracker.stats()).dropped).toEqual({})
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop NoRoom': 1 })
  })

  test('counts no error as lost if only the journal of async_logging cannot be written', async () => {
    const storage = await freshStorage(database)
    rmSync(storage.spool_path, { recursive: true })
    writeFileSync(storage.spool_path, 'a file, not a folder')
    const { tracker } = trackerAt(storage, { async_logging: true })
    const logged = await tracker.Commands.LogError.call({ error_type: 'NoJournal', message: 'async' })
    expect(logged?.state).toBe('accepted')
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop NoJournal': 1 })
    expect((await tracker.stats()).dropped).toEqual({ journal_unwritable: 1 })
  })

  test('an error that cannot be written is lost without affecting the host', async () => {
    const storage = await freshStorage(database)
    rmSync(storage.spool_path, { recursive: true })
    writeFileSync(storage.spool_path, 'a file, not a folder')
    await expectRefusal({ url: await nowhere(), spool_path: storage.spool_path })
    const { tracker } = trackerAt(storage, { async_logging: true })
    const logged = await tracker.Commands.LogError.call({ error_type: 'NoSpool', message: 'async' })
    expect(logged?.state).toBe('accepted')
    await tracker.flush()
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop NoSpool': 1 })
  })

  /** Address of the same dialect without a database. */
  async function nowhere(): Promise<string> {
    if (database.dialect === 'sqlite') return `sqlite:${join(temporaryFolder(), 'missing', 'test.sqlite3')}`
    return `${database.dialect}://unknown:nothing@127.0.0.1:9/none`
  }

  async function spoolSome({ spool_path }: TrackerStorage, files: number, { copies = 1 } = {}): Promise<void> {
    const { tracker } = trackerAt({ url: await nowhere(), spool_path })
    for (let i = 0; i < files; i++) {
      const event = { error_type: `Spooled${i}`, message: 'waits' }
      await Promise.all(Array.from({ length: copies }, () => tracker.Commands.LogError.call(event)))
    }
    await tracker.shutdown()
    expect(readdirSync(spool_path)).toHaveLength(files)
  }
})

async function importAll(storage: TrackerStorage): Promise<void> {
  const { tracker } = trackerAt(storage)
  await tracker.ready()
  await tracker.flush()
  expect(await spoolIsEmpty(tracker)).toBe(true)
  await tracker.shutdown()
}

async function expectRefusal(storage: TrackerStorage): Promise<void> {
  const { tracker, lines } = trackerAt(storage)
  const logged = await tracker.Commands.LogError.call({ error_type: 'Refused', message: 'nowhere to go' })
  expect(logged).toBeNull()
  expect((await tracker.stats()).dropped.spool_unwritable).toBe(1)
  expect(lines.join()).toContain(storage.spool_path)
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

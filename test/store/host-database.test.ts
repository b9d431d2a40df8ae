import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import mysql, { type PoolOptions } from 'mysql2'
import mysqlPromise from 'mysql2/promise'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { migrate } from '../../src/store/migrate.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { balancedBooks } from '../support/books.js'
import { type Dialect, describeEachDatabase } from '../support/databases.js'
import { startProxy } from '../support/proxy.js'
import { eventually, freshPlace, NOON, temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'

const EVENT: LogErrorInput = { error_type: 'Host', message: 'on a pool of the host', user_id: 'u1' }

describeEachDatabase("the host's own database object", (database) => {
  test('has a spool folder of its own for every database', async () => {
    const folders = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const pool = await hostObject(database.dialect, await database.fresh())
      const { tracker } = trackerAt({ url: '', spool_path: '' }, { database: pool, spool_path: null })
      folders.add((await tracker.stats()).spool.folder)
    }
    expect(folders.size).toBe(2)
  })

  if (database.dialect === 'postgres') {
    for (const [parsed, parse] of [
      ['numbers', Number],
      ['BigInt', BigInt],
      ['strings', String],
    ] as const) {
      test(`a pg Pool whose int8 values come as ${parsed} works, and stays open`, async () => {
        const { url } = await freshPlace(database)
        const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
          oid === 20 ? parse : pg.types.getTypeParser(oid, format as 'text')
        const pool = new pg.Pool({ connectionString: url, types: { getTypeParser: getTypeParser as never } })
        onTestFinished(() => pool.end())
        await expectToWork(trackerOn(pool))
        expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
        expect(pool.idleCount).toBe(pool.totalCount)
      })
    }

    test("a pg Pool: the host's own transaction is not disturbed, and a broken connection brings nothing down", async () => {
      const { url } = await freshPlace(database)
      const proxy = await startProxy(url)
      const pool = new pg.Pool({ connectionString: proxy.url, max: 2 })
      const broken: unknown[] = []
      pool.on('error', (error) => broken.push(error))
      onTestFinished(() => pool.end())
      const tracker = trackerOn(pool)
      await tracker.ready()
      const client = await pool.connect()
      await client.query('begin')
      await client.query('create table host (id int)')
      expect((await tracker.Commands.LogError.call(EVENT))?.state).toBe('recorded')
      await client.query('rollback')
      client.release()
      expect((await balancedBooks(url)).counts).toEqual({ 'shop Host': 1 })

      proxy.cutNextCommit()
      expect((await tracker.Commands.LogError.call(EVENT))?.state).toBe('spooled')
      await eventually(async () => (await tracker.stats()).spool.files === 0, 'the spool is imported')
      expect((await balancedBooks(url)).counts).toEqual({ 'shop Host': 2 })
      // No listener of ours stays on a client of the host.
      const again = await pool.connect()
      expect(again.listenerCount('error')).toBe(0)
      again.release()
    })
    return
  }

  if (database.dialect === 'mysql') {
    const variations: [string, PoolOptions][] = [
      ['as it comes', {}],
      ['with big numbers as text', { supportBigNumbers: true, bigNumberStrings: true }],
      ['that counts changed rows only', { flags: ['-FOUND_ROWS'] }],
    ]
    for (const [how, options] of variations) {
      test(`a mysql2 pool ${how} works, plain or with promises, and stays open`, async () => {
        const { url } = await freshPlace(database)
        const plain = mysql.createPool({ uri: url, ...options })
        const promising = mysqlPromise.createPool({ uri: url, ...options })
        onTestFinished(async () => {
          await plain.promise().end()
          await promising.end()
        })
        await expectToWork(trackerOn(plain))
        await withDatabase(url, ({ read }) =>
          read
            .deleteFrom('faultboard_errors')
            .execute()
            .then(() => empty(read)),
        )
        await expectToWork(trackerOn(promising))
        expect((await plain.promise().query('select 1 as one'))[0]).toEqual([{ one: 1 }])
        expect((await promising.query('select 1 as one'))[0]).toEqual([{ one: 1 }])
      })
    }

    test("a mysql2 pool: the host's own transaction is not disturbed", async () => {
      const { url } = await freshPlace(database)
      const pool = mysqlPromise.createPool({ uri: url, connectionLimit: 2 })
      onTestFinished(() => pool.end())
      const tracker = trackerOn(pool)
      await tracker.ready()
      await pool.query('create table host (id int) engine = InnoDB')
      const connection = await pool.getConnection()
      await connection.query('begin')
      await connection.query('insert into host values (1)')
      expect((await tracker.Commands.LogError.call(EVENT))?.state).toBe('recorded')
      await connection.query('rollback')
      connection.release()
      expect((await pool.query('select * from host'))[0]).toEqual([])
      expect((await balancedBooks(url)).counts).toEqual({ 'shop Host': 1 })
    })
    return
  }

  sqliteTests('@photostructure/sqlite', DatabaseSync as unknown as HostLibrary)
  const better = betterSqlite3()
  if (better) sqliteTests('better-sqlite3', better)
  else test.skip('works with better-sqlite3 (skipped: better-sqlite3 is not installed in test/hosts)')
})

async function hostObject(dialect: Dialect, url: string): Promise<object> {
  if (dialect === 'sqlite') {
    const handle = new DatabaseSync(url.slice('sqlite:'.length))
    onTestFinished(() => handle.close())
    return handle
  }
  const pool = dialect === 'postgres' ? new pg.Pool({ connectionString: url }) : mysqlPromise.createPool(url)
  onTestFinished(() => pool.end())
  return pool
}

interface HostHandle {
  exec(sql: string): unknown
  prepare(sql: string): { all(): unknown[]; run(): unknown }
  close(): void
}

type HostLibrary = new (file: string) => HostHandle

function sqliteTests(name: string, Library: HostLibrary): void {
  for (const kind of ['file', 'memory'] as const) {
    test(`a handle of ${name} on a ${kind} works, and stays open`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      await expectToWork(tracker)
      expect(handle.prepare('select count(*) as n from host').all()).toEqual([{ n: 0 }])
    })

    test(`a handle of ${name} on a ${kind}: the host's own transaction is not disturbed`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      await tracker.ready()
      handle.exec('begin')
      handle.exec("insert into host values ('rolled back')")
      const logged = tracker.Commands.LogError.call(EVENT)
      await new Promise((resume) => setTimeout(resume, 50))
      handle.exec('rollback')
      expect((await logged)?.state).toBe('recorded')
      handle.exec('begin')
      handle.exec("insert into host values ('committed')")
      const another = tracker.Commands.LogError.call(EVENT)
      await new Promise((resume) => setTimeout(resume, 50))
      handle.exec('commit')
      expect(await another).toMatchObject({ state: 'recorded', occurrence_count: 2 })
      expect(handle.prepare('select a from host').all()).toEqual([{ a: 'committed' }])
      await tracker.shutdown()
    })

    test(`a handle of ${name} on a ${kind}: the host never meets a lock or transaction of ours`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      await tracker.ready()
      let running = true
      const logging = (async () => {
        for (let i = 0; i < 200; i++) await tracker.Commands.LogError.call({ ...EVENT, user_id: i })
        running = false
      })()
      let written = 0
      while (running) {
        // Without a busy timeout, so that a lock of ours would be an error here.
        handle.exec('begin')
        handle.exec(`insert into host values (${written++})`)
        handle.exec('commit')
        await new Promise((resume) => (written % 2 ? setImmediate(resume) : setTimeout(resume, 0)))
      }
      await logging
      expect(handle.prepare('select count(*) as n from host').all()).toEqual([{ n: written }])
      await tracker.shutdown()
    })
  }
}

async function hostHandle(Library: HostLibrary, kind: 'file' | 'memory') {
  const handle = new Library(kind === 'file' ? join(temporaryFolder(), 'host.sqlite3') : ':memory:')
  onTestFinished(() => handle.close())
  handle.exec('create table host (a)')
  await withDatabase(handle, migrate)
  return { handle, tracker: trackerOn(handle) }
}

function trackerOn(option: object): TrackerInstance {
  return trackerAt({ url: '', spool_path: temporaryFolder() }, { database: option, max_occurrences_per_error: 4 })
    .tracker
}

/** What touches every kind of statement: new and repeated, trimmed, resolved and reopened, listed, deleted. */
async function expectToWork(tracker: TrackerInstance): Promise<void> {
  for (let i = 1; i <= 8; i++) {
    expect(await tracker.Commands.LogError.call(EVENT)).toMatchObject({ state: 'recorded', occurrence_count: i })
  }
  const [record] = await tracker.Queries.ErrorsList.call()
  expect(record).toMatchObject({ occurrence_count: 8, occurred_at: new Date(NOON).toISOString() })
  const error_id = record?.id ?? 0
  expect(typeof error_id).toBe('number')
  const found = await tracker.Queries.FindError.call({ error_id })
  expect(found.occurrences).toHaveLength(4)
  await tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })
  expect(await tracker.Queries.DashboardStats.call()).toMatchObject({ total_errors: 1, total_occurrences: 8 })
  await tracker.shutdown()
}

async function empty(read: Parameters<Parameters<typeof withDatabase>[1]>[0]['read']): Promise<void> {
  for (const table of ['error_hours', 'application_hours', 'occurrences', 'payloads', 'error_users'] as const) {
    await read.deleteFrom(`faultboard_${table}`).execute()
  }
}

/** It compiles for minutes, so it is used where it was installed on purpose. */
function betterSqlite3(): HostLibrary | null {
  const manifest = join(import.meta.dirname, '../hosts/package.json')
  if (!existsSync(manifest)) return null
  try {
    return createRequire(manifest)('better-sqlite3') as HostLibrary
  } catch {
    // Not installed there, or not compiled for this Node.
    return null
  }
}

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import mysql, { type PoolOptions } from 'mysql2'
import mysqlPromise from 'mysql2/promise'
import pg from 'pg'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import { builtInSqlite } from '../../../src/store/dialects/sqlite-library.js'
import { migrate } from '../../../src/store/migrate.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { SERVERS } from '../../support/databases/database-servers.js'
import { startProxy } from '../../support/databases/proxy.js'
import { type Dialect, describeEachDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { eventually, freshStorage, NOON, temporaryFolder, trackerAt, withDatabase } from '../../support/tracker.js'

const EVENT: LogErrorInput = { error_type: 'Host', message: 'on a pool of the host', user_id: 'u1' }

describeEachDatabase('database objects of the host', (database) => {
  test('uses a separate spool folder for every database', async () => {
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
      test(`works with a pg Pool that parses int8 as ${parsed}, and leaves it open`, async () => {
        const { url } = await freshStorage(database)
        const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
          oid === 20 ? parse : pg.types.getTypeParser(oid, format as 'text')
        const pool = new pg.Pool({ connectionString: url, types: { getTypeParser: getTypeParser as never } })
        onTestFinished(() => pool.end())
        await expectToWork(trackerOn(pool))
        expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
        expect(pool.idleCount).toBe(pool.totalCount)
      })
    }

    test('records a repeated error in seven round trips', async () => {
      const { url } = await freshStorage(database)
      const pool = new pg.Pool({ connectionString: url, max: 1 })
      onTestFinished(() => pool.end())
      const tracker = trackerOn(pool)
      for (let i = 0; i < 2; i++) await tracker.Commands.LogError.call({ ...EVENT, app_version: '1.0' })
      const client = await pool.connect()
      const query = vi.spyOn(client, 'query')
      client.release()
      await tracker.Commands.LogError.call({ ...EVENT, app_version: '1.0' })
      expect(query.mock.calls).toHaveLength(7)
      expect(Object.values((await verifiedCounts(url)).counts)).toEqual([3])
    })

    test('does not disturb transactions of a pg Pool, and survives a broken connection', async () => {
      const { url } = await freshStorage(database)
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
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Host': 1 })

      proxy.cutNextCommit()
      expect((await tracker.Commands.LogError.call(EVENT))?.state).toBe('spooled')
      await eventually(async () => (await tracker.stats()).spool.files === 0, 'the spool is imported')
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Host': 2 })
      // No listener of the tracker remains on a client of the host.
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
      test(`works with a mysql2 pool ${how}, with callbacks or promises, and leaves it open`, async () => {
        const { url } = await freshStorage(database)
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

    test('does not disturb transactions of a mysql2 pool', async () => {
      const { url } = await freshStorage(database)
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
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Host': 1 })
    })
    return
  }

  test('reads the column metadata of a statement once, because reading it is slow', async () => {
    const handle = new DatabaseSync(':memory:')
    onTestFinished(() => handle.close())
    await withDatabase(handle, migrate)
    const described: string[] = []
    const counting = {
      prepare(sql: string) {
        const statement = handle.prepare(sql)
        return {
          get: statement.get.bind(statement),
          all: statement.all.bind(statement),
          run: statement.run.bind(statement),
          columns() {
            described.push(sql)
            return statement.columns()
          },
        }
      },
      exec: handle.exec.bind(handle),
      close() {},
      get isTransaction() {
        return handle.isTransaction
      },
    }
    await expectToWork(trackerOn(counting))
    expect(described.length).toBeGreaterThan(10)
    expect(described).toEqual([...new Set(described)])
  })

  sqliteTests('@photostructure/sqlite', DatabaseSync as unknown as HostLibrary)
  const builtIn = builtInSqlite()
  if (builtIn) sqliteTests('node:sqlite', builtIn.DatabaseSync as HostLibrary)
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
    test(`works with a ${name} handle on a ${kind}, and leaves it open`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      await expectToWork(tracker)
      expect(handle.prepare('select count(*) as n from host').all()).toEqual([{ n: 0 }])
    })

    test(`does not disturb transactions of a ${name} handle on a ${kind}`, async () => {
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

    test(`migrates a ${name} handle on a ${kind} after a transaction of the host`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      handle.exec('begin')
      handle.exec("insert into host values ('rolled back')")
      const logged = tracker.Commands.LogError.call(EVENT)
      await new Promise((resume) => setTimeout(resume, 50))
      handle.exec('rollback')
      await logged
      await eventually(async () => (await tracker.Queries.ErrorsList.call().catch(() => [])).length === 1, 'the error')
      expect(handle.prepare('select a from host').all()).toEqual([])
      await tracker.shutdown()
    })

    test(`hides locks and transactions of the tracker from a ${name} handle on a ${kind}`, async () => {
      const { handle, tracker } = await hostHandle(Library, kind)
      await tracker.ready()
      let running = true
      const logging = (async () => {
        for (let i = 0; i < 40; i++) await tracker.Commands.LogError.call({ ...EVENT, user_id: i })
        running = false
      })()
      let written = 0
      while (running) {
        // Without a busy timeout, a lock of the tracker would cause an error here.
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
  const { url, remove } = await SERVERS.sqlite.create(inject('run'))
  onTestFinished(remove)
  const handle = new Library(kind === 'file' ? url.slice('sqlite:'.length) : ':memory:')
  onTestFinished(() => handle.close())
  handle.exec('create table host (a)')
  return { handle, tracker: trackerOn(handle) }
}

function trackerOn(option: object): TrackerInstance {
  return trackerAt({ url: '', spool_path: temporaryFolder() }, { database: option, max_occurrences_per_error: 4 })
    .tracker
}

/** Uses every kind of statement: new and repeated errors, trim, resolve, reopen, list and delete. */
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

/** Loads better-sqlite3 only if it is installed, because its compilation takes minutes. */
function betterSqlite3(): HostLibrary | null {
  const manifest = join(import.meta.dirname, '../../hosts/package.json')
  if (!existsSync(manifest)) return null
  try {
    const Library = createRequire(manifest)('better-sqlite3') as HostLibrary
    // Loads its native binary.
    new Library(':memory:').close()
    return Library
  } catch {
    // Not installed, or not compiled for this Node.js version.
    return null
  }
}

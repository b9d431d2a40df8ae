import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDatabase, type Database } from '../../../src/store/database.js'
import { loadSqlite } from '../../../src/store/dialects/sqlite-library.js'
import { CompiledQuery } from '../../../src/store/kysely.js'
import { temporaryFolder } from '../../support/tracker.js'

/** built-in-sqlite.test.ts repeats these tests with `node:sqlite` on newer versions of Node.js. */
describe('SQLite driver', () => {
  test('a SQLite driver returns every value that it stores', async () => {
    const { run } = openFile()
    await run('create table kinds (i integer, r real, t text, b blob) strict')
    const rows = [
      [Number.MAX_SAFE_INTEGER, 0.1, 'naïve 😀', new Uint8Array([0, 255])],
      [Number.MIN_SAFE_INTEGER, 1e300, '', Buffer.from('')],
      [2 ** 31, -1.5, '\'"\n', Buffer.from([1])],
      [true, 3, '5', undefined],
      [null, null, null, null],
    ]
    for (const row of rows) await run('insert into kinds values (?, ?, ?, ?)', row)
    const stored = (await run('select * from kinds')) as { i: number; r: number; t: string; b: Uint8Array | null }[]
    const expected = rows.map(([i, r, t, b]) => [i === true ? 1 : i, r, t, b ? [...(b as Uint8Array)] : null])
    expect(stored.map(({ i, r, t, b }) => [i, r, t, b && [...b]])).toEqual(expected)
    expect(stored[0]?.b).toBeInstanceOf(Uint8Array)
    expect(await run('select distinct typeof(i) as type from kinds where i is not null')).toEqual([{ type: 'integer' }])
  })

  test('a SQLite driver keeps integers beyond 2^53 exact, or rejects', async () => {
    const { run } = openFile()
    await run('create table large (n integer)')
    await run('insert into large values (?)', [9007199254740993n])
    expect(await run('select cast(n as text) as digits from large')).toEqual([{ digits: '9007199254740993' }])
    await expect(run('select n from large')).rejects.toThrow('too large to be represented as a JavaScript number')
    await expect(run('insert into large values (?)', [2n ** 64n])).rejects.toThrow('too large to bind')
    expect(await run('select count(*) as rows from large where n > ?', [2 ** 53])).toEqual([{ rows: 1 }])
  })

  test('a SQLite driver returns changed rows, the new id and rows of returning clauses', async () => {
    const { database, run } = openFile()
    await run('create table named (id integer primary key autoincrement, name text unique)')
    const insert = CompiledQuery.raw('insert into named (name) values (?), (?)', ['a', 'b'])
    expect(await database.read.executeQuery(insert)).toMatchObject({ numAffectedRows: 2n, insertId: 2n })
    expect(await run('insert into named (name) values (?) on conflict do nothing returning id', ['b'])).toEqual([])
    expect(await run('insert into named (name) values (?) returning id, name', ['c'])).toMatchObject([{ name: 'c' }])
  })

  test('a SQLite driver rolls back a failed transaction and stays usable', async () => {
    const { database, run } = openFile()
    await run('create table named (name text unique)')
    const failing = database.write(async (trx) => {
      await trx.executeQuery(CompiledQuery.raw("insert into named values ('lost')"))
      await trx.executeQuery(CompiledQuery.raw("insert into named values ('lost')"))
    })
    await expect(failing).rejects.toThrow('UNIQUE constraint failed')
    expect(await run('select * from named')).toEqual([])
  })

  // The driver has a separate code path for statements that return rows.
  test.each(['', ' returning name'])('errors of "insert%s" of a SQLite driver are classified', async (returning) => {
    const { database, file, run } = openFile()
    await run('create table named (id integer primary key, name text not null unique)')
    const failure = (sql: string) =>
      run(sql).then(
        () => ({ message: 'no error' }),
        (error) => ({
          message: error.message,
          class: database.classifyError(error),
          outage: database.isUnreachable(error),
        }),
      )
    expect(await failure(`insert into named (name) values (null)${returning}`)).toMatchObject({
      message: 'NOT NULL constraint failed: named.name',
      outage: false,
      ...(returning === '' ? { class: 'statement' } : {}),
    })

    await run('pragma max_page_count = 4')
    expect(await failure(`insert into named (name) values (zeroblob(100000))${returning}`)).toEqual({
      message: 'database or disk is full',
      class: 'unavailable',
      outage: true,
    })
    await run('pragma query_only = on')
    expect(await failure(`insert into named (name) values ('x')${returning}`)).toEqual({
      message: 'attempt to write a readonly database',
      class: 'unavailable',
      outage: true,
    })
    await database.close()
    for (const suffix of ['-wal', '-shm']) writeFileSync(`${file}${suffix}`, '')
    writeFileSync(file, 'This is not a database. '.repeat(1000))
    expect(await failure(`insert into named (name) values ('x')${returning}`)).toEqual({
      message: 'file is not a database',
      class: 'unavailable',
      outage: true,
    })
  })

  test('a SQLite driver waits for a lock without blocking the event loop', async () => {
    const { file, run } = openFile()
    await run('create table named (name text)')
    const { DatabaseSync } = await loadSqlite()
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    let turns = 0
    const counter = setInterval(() => turns++, 1)
    const insert = run("insert into named values ('late')")
    await new Promise((resume) => setTimeout(resume, 100))
    other.exec('commit')
    await insert
    clearInterval(counter)
    expect(turns).toBeGreaterThan(5)
    expect(await run('pragma busy_timeout')).toEqual([{ timeout: 0 }])
  })

  test('a SQLite driver has foreign keys, strict tables and trigram search, but no extensions', async () => {
    const { run } = openFile()
    expect(await run('pragma foreign_keys')).toEqual([{ foreign_keys: 1 }])
    await run('create table counted (n integer) strict')
    await expect(run("insert into counted values ('many')")).rejects.toThrow(
      'cannot store TEXT value in INTEGER column',
    )
    await run("create virtual table texts using fts5 (body, tokenize = 'trigram')")
    await run("insert into texts values ('TypeError: x is undefined'), ('timeout')")
    expect(await run('select body from texts where body match \'"undef"\'')).toEqual([
      { body: 'TypeError: x is undefined' },
    ])
    await expect(run("select load_extension('anything')")).rejects.toThrow('not authorized')
  })
})

interface OpenedFile {
  database: Database
  file: string
  run(sql: string, parameters?: unknown[]): Promise<unknown[]>
}

function openFile(): OpenedFile {
  const file = join(temporaryFolder(), 'errors.sqlite3')
  const database = createDatabase(`sqlite:${file}`, process.cwd())
  onTestFinished(() => database.close())
  const run = async (sql: string, parameters: unknown[] = []) =>
    (await database.read.executeQuery<object>(CompiledQuery.raw(sql, parameters))).rows.map((row) => ({ ...row }))
  return { database, file, run }
}

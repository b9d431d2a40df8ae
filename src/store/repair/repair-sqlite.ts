import { isUtf8 } from 'node:buffer'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { TrackerError } from '../../model/errors.js'
import { createDatabase } from '../database.js'
import { loadSqlite, type SqliteLibrary } from '../dialects/sqlite.js'
import { isDamage, type SqliteHandle, type SqliteStatement } from '../dialects/sqlite-file.js'
import { migrate } from '../migrate.js'
import { recountSums } from './recount-sums.js'
import { rebuildSchema } from './salvage-schema.js'

export interface SalvagedTable {
  table: string
  copied: number
  /** Upper bound of the rows that could not be read: ids within unreadable pages. Null: their number is unknown. */
  unreadable: number | null
}

export interface Repair {
  /** Copy of the damaged file, with its write-ahead log beside it. */
  backup: string
  tables: SalvagedTable[]
  /** Occurrences that count, but whose hour is lost. */
  undated: number
}

/** Problems that `pragma integrity_check` reports, at most this many. */
const MAX_PROBLEMS = 5
const LOCK_WAIT_MS = 5000

/** Problems of an SQLite file, as SQLite words them; empty for a sound file. */
export async function integrityProblems(path: string): Promise<string[]> {
  const { DatabaseSync } = await loadSqlite()
  let handle: SqliteHandle | null = null
  try {
    handle = new DatabaseSync(path)
    handle.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}`)
    return problemsIn(handle)
  } catch (error) {
    if (isDamage(error)) return [messageOf(error)]
    throw new TrackerError(
      'database_unavailable',
      `${path} cannot be read (${messageOf(error)}). Check that it is a file this user may read and write, and that no other process has locked it.`,
      { cause: error },
    )
  } finally {
    handle?.close()
  }
}

function problemsIn(handle: SqliteHandle): string[] {
  const rows = handle.prepare(`pragma integrity_check(${MAX_PROBLEMS})`).all() as object[]
  const lines = rows.flatMap((row) => String(Object.values(row)[0]).split('\n'))
  return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MAX_PROBLEMS)
}

/**
 * Copies every readable row into a new file and puts it in place of the damaged one, after a backup. Running processes
 * notice the new file by themselves. Throws, and changes nothing but the backup, if the new file is not sound.
 */
export async function repairSqlite(path: string, now: number): Promise<Repair> {
  const fresh = `${path}.repair-${process.pid}`
  const copy = `${path}.salvage-${process.pid}`
  for (const file of [fresh, copy]) removeDatabase(file)
  const lock = await lockAgainstWriters(path)
  try {
    const backup = `${path}.damaged-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`
    copyDatabase(path, backup)
    copyDatabase(path, copy)
    await createEmpty(fresh)
    const salvaged = await salvage(copy, fresh)
    // Windows cannot replace an open file.
    if (process.platform === 'win32') lock?.close()
    replace(path, fresh)
    return { backup, ...salvaged }
  } finally {
    readable(() => lock?.close())
    for (const file of [fresh, copy]) removeDatabase(file)
  }
}

function copyDatabase(path: string, copy: string): void {
  copyFileSync(path, copy, constants.COPYFILE_EXCL)
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_EXCL)
}

async function createEmpty(file: string): Promise<void> {
  const database = createDatabase(`sqlite:${file}`, '/')
  try {
    await migrate(database)
  } finally {
    await database.close()
  }
}

/** Keeps running processes from writing to the file that is being replaced; null if it is too damaged for writes. */
async function lockAgainstWriters(path: string): Promise<SqliteHandle | null> {
  const { DatabaseSync } = await loadSqlite()
  const handle = new DatabaseSync(path)
  try {
    handle.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}; begin immediate`)
    return handle
  } catch (error) {
    handle.close()
    if (isDamage(error)) return null
    throw new TrackerError(
      'database_unavailable',
      `${path} cannot be locked (${messageOf(error)}). Stop the processes that use it, and run the repair again.`,
      { cause: error },
    )
  }
}

/** Opens a copy of the damaged file. Statements fail on what is unreadable. */
async function openDamaged(copy: string, fresh: string): Promise<SqliteHandle> {
  extendToPageCount(copy)
  const library = await loadSqlite()
  if (!hasReadableSchema(copy, library)) readable(() => rebuildSchema(copy, fresh, library))
  const handle = new library.DatabaseSync(copy)
  // Keeps the tables that could be read when the rest of the schema is damaged.
  readable(() => handle.exec('pragma writable_schema = on'))
  return handle
}

function hasReadableSchema(copy: string, { DatabaseSync }: SqliteLibrary): boolean {
  const handle = new DatabaseSync(copy)
  const rows = readable(() => handle.prepare('select sql from sqlite_master').all())
  handle.close()
  return rows !== null
}

/** SQLite reads nothing of a file with fewer pages than its header states. */
function extendToPageCount(copy: string): void {
  const header = Buffer.alloc(100)
  const descriptor = openSync(copy, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const size = pageSize * header.readUInt32BE(28)
  const isHeader = header.toString('latin1', 0, 15) === 'SQLite format 3'
  if (isHeader && size > statSync(copy).size && size <= MAX_EXTENDED_BYTES) truncateSync(copy, size)
}

/** A header that states more than this is damaged itself. */
const MAX_EXTENDED_BYTES = 2 ** 40

async function salvage(copy: string, fresh: string): Promise<Omit<Repair, 'backup'>> {
  const { DatabaseSync } = await loadSqlite()
  const source = await openDamaged(copy, fresh)
  const target = new DatabaseSync(fresh)
  try {
    target.exec('begin')
    const tables = copiedTables(target).map((table) => copyTable(source, target, table))
    target.exec('commit')
    removeOrphans(target)
    const undated = recountSums(target)
    const [problem] = problemsIn(target)
    if (problem) throw new TrackerError('database_unavailable', `The repaired file is not sound: ${problem}`)
    // Moved without its write-ahead log, the file must contain everything.
    target.exec('pragma wal_checkpoint(truncate)')
    return { tables, undated }
  } finally {
    source.close()
    target.close()
  }
}

/** All tables with rows of their own. Search indexes are virtual tables with tables behind them, filled by triggers. */
function copiedTables(target: SqliteHandle): string[] {
  const tables = target
    .prepare(
      `select name, sql like 'create virtual table%' as is_virtual from sqlite_master
        where type = 'table' and name like 'faultboard!_%' escape '!' order by name`,
    )
    .all() as { name: string; is_virtual: number }[]
  const virtual = tables.filter(({ is_virtual }) => is_virtual === 1).map(({ name }) => name)
  return tables
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('faultboard_migrations') && !virtual.some((index) => name.startsWith(index)))
}

interface Column {
  name: string
  type: string
  notnull: number
  /** Position in the primary key, from 1; 0 outside of it. */
  pk: number
}

function columnsOf(handle: SqliteHandle, table: string): Column[] {
  return handle.prepare(`pragma table_info("${table}")`).all() as Column[]
}

function copyTable(source: SqliteHandle, target: SqliteHandle, table: string): SalvagedTable {
  target.exec(`delete from "${table}"`)
  const known = readable(() => new Set(columnsOf(source, table).map(({ name }) => name))) ?? null
  if (!known?.size) return { table, copied: 0, unreadable: null }
  const columns = columnsOf(target, table).filter(({ name }) => known.has(name))
  if (columns.length === 0) return { table, copied: 0, unreadable: 0 }
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const insert = target.prepare(
    `insert or ignore into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`,
  )
  let [copied, misfits] = [0, 0]
  const key = keyOf(target, table)
  const add = (row: Record<string, unknown>) => {
    const values = columns.map(({ name }) => row[name])
    const isIntact = (column: Column, i: number) =>
      fits(values[i], column) && (!hasReplacement(values[i]) || isStoredAsText(source, { table, key }, row, column))
    if (columns.every(isIntact)) copied += Number(insert.run(...values).changes)
    else misfits++
  }
  const reader = readable(() => new RangeReader(source, { table, names, key }, add))
  const range = rangeOf(source, table, key.column)
  if (!reader || !range) return { table, copied, unreadable: reader ? 0 : null }
  reader.read(range.first, range.last)
  const unreadable = reader.unreadable + misfits
  return { table, copied, unreadable: (range.isGuessed || !key.isUnique) && unreadable > 0 ? null : unreadable }
}

const ROWS_AT_ONCE = 500
/** Keys that are read at once where a key can have many rows. */
const KEYS_AT_ONCE = 200
/** Failed reads of one table, after which what is left of a failing range counts as unreadable. */
const MAX_FAILED_READS = 20_000
/** Failed reads without any success: the root of the table is lost, and every further read would fail. */
const MAX_FAILED_IN_A_ROW = 5000
/** Largest key that is looked for in a table whose newest row cannot be read. */
const MAX_GUESSED_KEY = 2 ** 31

interface Key {
  /** SQL of the column by which the table is stored. Reading by it uses no index, which may be damaged alone. */
  column: string
  isUnique: boolean
  order: string
}

/** The rowid, or the first column of the primary key for a table without rowids. */
function keyOf(target: SqliteHandle, table: string): Key {
  if (readable(() => target.prepare(`select rowid from "${table}" limit 0`))) {
    return { column: 'rowid', isUnique: true, order: 'rowid' }
  }
  const names = columnsOf(target, table)
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => `"${name}"`)
  return { column: names[0] ?? 'rowid', isUnique: false, order: names.join(', ') }
}

interface KeyRange {
  first: number
  last: number
  isGuessed: boolean
}

function rangeOf(source: SqliteHandle, table: string, column: string): KeyRange | null {
  const edge = (order: 'asc' | 'desc') =>
    readable(() => {
      const row = source.prepare(`select ${column} as id from "${table}" order by ${column} ${order} limit 1`).get()
      return { id: row ? Number((row as { id: number }).id) : null }
    })
  const [first, last] = [edge('asc'), edge('desc')]
  if (first?.id === null && last?.id === null) return null
  const newest = last?.id ?? newestId(source, column === '"error_id"' ? 'faultboard_errors' : table)
  return { first: first?.id ?? 1, last: newest ?? MAX_GUESSED_KEY, isGuessed: newest === null }
}

function newestId(source: SqliteHandle, table: string): number | null {
  const row = readable(() => source.prepare('select seq from sqlite_sequence where name = ?').get(table))
  return row ? Number((row as { seq: number }).seq) : null
}

interface ReadTable {
  table: string
  names: string
  key: Key
}

/** Reads the rows of a range of keys. A range that cannot be read is halved until only unreadable keys are left. */
class RangeReader {
  readonly #key: Key
  readonly #page: SqliteStatement
  readonly #ofKey: SqliteStatement[]
  readonly #add: (row: Record<string, unknown>) => void
  unreadable = 0
  #failedReads = 0
  #failedInARow = 0

  constructor(source: SqliteHandle, { table, names, key }: ReadTable, add: (row: Record<string, unknown>) => void) {
    this.#key = key
    this.#add = add
    const select = `select ${key.column} as salvaged_key, ${names} from "${table}" where ${key.column}`
    const limit = key.isUnique ? `limit ${ROWS_AT_ONCE}` : ''
    this.#page = source.prepare(`${select} between ? and ? order by ${key.column} ${limit}`)
    const backward = key.order.replaceAll(', ', ' desc, ')
    this.#ofKey = [key.order, `${backward} desc`].map((order) =>
      source.prepare(`${select} = ? order by ${order} limit ? offset ?`),
    )
  }

  read(first: number, last: number): void {
    for (let from = first; from <= last; ) {
      if (this.#failedReads > MAX_FAILED_READS || this.#failedInARow > MAX_FAILED_IN_A_ROW) {
        this.unreadable += last - from + 1
        return
      }
      const to = this.#key.isUnique ? last : Math.min(last, from + KEYS_AT_ONCE)
      const rows = this.#try(() => this.#page.all(from, to) as Record<string, unknown>[])
      if (rows) {
        for (const row of rows) this.#add(row)
        const isWhole = !this.#key.isUnique || rows.length < ROWS_AT_ONCE
        from = isWhole ? to + 1 : Number(rows.at(-1)?.salvaged_key) + 1
        continue
      }
      this.#failedReads++
      this.#failedInARow++
      if (from === to) this.#skip(from)
      else {
        const middle = Math.floor((from + to) / 2)
        this.read(from, middle)
        this.read(middle + 1, to)
      }
      from = to + 1
    }
  }

  #skip(key: number): void {
    this.unreadable++
    if (this.#key.isUnique) return
    // The rows of one key before and behind what is unreadable.
    for (const statement of this.#ofKey) {
      for (let [offset, size] = [0, ROWS_AT_ONCE]; size >= 1; ) {
        const rows = this.#try(() => statement.all(key, size, offset) as Record<string, unknown>[])
        for (const row of rows ?? []) this.#add(row)
        if (!rows) size = Math.floor(size / 2)
        else if (rows.length < size) break
        else offset += size
      }
    }
  }

  #try<T>(read: () => T): T | null {
    const result = readable(read)
    if (result !== null) this.#failedInARow = 0
    return result
  }
}

/** The result, or null if SQLite cannot read it. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    // Damage, or a value that does not fit a number of JavaScript: an unreadable row either way.
    return null
  }
}

/** Whether a value has the declared type of its column. Damage can leave rows that are readable and wrong. */
function fits(value: unknown, { type, notnull }: Column): boolean {
  if (value === null) return notnull === 0
  if (/int/i.test(type)) return Number.isSafeInteger(value)
  if (/double|real|float/i.test(type)) return typeof value === 'number'
  if (!/char|text/i.test(type)) return true
  return typeof value === 'string' && !value.includes('\0')
}

/** A replacement character is part of the stored text, or replaces bytes that are not text. */
function hasReplacement(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\ufffd')
}

function isStoredAsText(
  source: SqliteHandle,
  { table, key }: { table: string; key: Key },
  row: Record<string, unknown>,
  { name }: Column,
): boolean {
  if (!key.isUnique) return false
  const stored = readable(() =>
    source.prepare(`select cast("${name}" as blob) as bytes from "${table}" where rowid = ?`).get(row.salvaged_key),
  ) as { bytes: Uint8Array } | null | undefined
  return stored ? isUtf8(stored.bytes) : false
}

const REFERENCES = ['error_id', 'parent_error_id', 'child_error_id']

/** Deletes rows of errors that were lost, and names applications that were lost. */
function removeOrphans(target: SqliteHandle): void {
  target.exec(`insert or ignore into faultboard_applications (id, name, created_at)
    select application_id, 'recovered ' || application_id, min(first_seen_at) from faultboard_errors
    where application_id not in (select id from faultboard_applications) group by application_id`)
  for (const table of copiedTables(target)) {
    for (const { name } of columnsOf(target, table)) {
      if (!REFERENCES.includes(name)) continue
      target.exec(
        `delete from "${table}" where "${name}" is not null and "${name}" not in (select id from faultboard_errors)`,
      )
    }
  }
}

/** The old write-ahead log goes first: SQLite would apply it to the new file. */
function replace(path: string, fresh: string): void {
  const { mode, uid, gid } = statSync(path)
  chmodSync(fresh, mode & 0o777)
  try {
    chownSync(fresh, uid, gid)
  } catch {
    // Only root may give a file away; anyone else owns the old file already, or cannot keep its owner.
  }
  for (const log of [`${path}-wal`, `${path}-shm`]) rmSync(log, { force: true })
  renameSync(fresh, path)
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

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
import { failureMessage, TrackerError } from '../../model/errors.js'
import { createDatabase } from '../database.js'
import { isDamage, type SqliteHandle, type SqliteStatement } from '../dialects/sqlite-file.js'
import { loadSqlite, type SqliteLibrary } from '../dialects/sqlite-library.js'
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
  /** Counted occurrences whose hour is lost. */
  undated: number
}

/** Problems that `pragma integrity_check` reports, at most this many. */
const MAX_PROBLEMS = 5
const LOCK_WAIT_MS = 5000

/** Returns the problems that SQLite reports for a file. Empty for an intact file. */
export async function integrityProblems(path: string): Promise<string[]> {
  const { DatabaseSync } = await loadSqlite()
  let handle: SqliteHandle | null = null
  try {
    handle = new DatabaseSync(path)
    handle.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}`)
    return checkIntegrity(handle)
  } catch (error) {
    if (isDamage(error)) return [failureMessage(error)]
    throw new TrackerError(
      'database_unavailable',
      `Cannot read ${path} (${failureMessage(error)}). Check that it is a readable and writable file, and that no other process has locked it.`,
      { cause: error },
    )
  } finally {
    handle?.close()
  }
}

function checkIntegrity(handle: SqliteHandle): string[] {
  const rows = handle.prepare(`pragma integrity_check(${MAX_PROBLEMS})`).all() as object[]
  const lines = rows.flatMap((row) => String(Object.values(row)[0]).split('\n'))
  return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MAX_PROBLEMS)
}

/**
 * Copies every readable row to a new file and replaces the damaged file with it, after a backup. Running processes detect
 * the new file automatically. If the new file is not intact, throws and leaves the damaged file unchanged.
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
    replaceFile(path, fresh)
    return { backup, ...salvaged }
  } finally {
    tryRead(() => lock?.close())
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

/** Prevents running processes from writing to the file during the repair. Returns null if it is too damaged for writes. */
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
      `Cannot lock ${path} (${failureMessage(error)}). Stop the processes that use it and run the repair again.`,
      { cause: error },
    )
  }
}

/** Opens a copy of the damaged file. Statements that read damaged pages fail. */
async function openDamaged(copy: string, fresh: string): Promise<SqliteHandle> {
  extendToPageCount(copy)
  const library = await loadSqlite()
  if (!hasReadableSchema(copy, library)) tryRead(() => rebuildSchema(copy, fresh, library))
  const handle = new library.DatabaseSync(copy)
  // Keeps the readable tables usable if the rest of the schema is damaged.
  tryRead(() => handle.exec('pragma writable_schema = on'))
  return handle
}

function hasReadableSchema(copy: string, { DatabaseSync }: SqliteLibrary): boolean {
  const handle = new DatabaseSync(copy)
  const rows = tryRead(() => handle.prepare('select sql from sqlite_master').all())
  handle.close()
  return rows !== null
}

/** Needed because SQLite refuses a file with fewer pages than its header states. */
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

/** A header that states a larger size is itself damaged. */
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
    const [problem] = checkIntegrity(target)
    if (problem) throw new TrackerError('database_unavailable', `The repaired file failed its check: ${problem}`)
    // The file is moved without its write-ahead log, so it must contain everything.
    target.exec('pragma wal_checkpoint(truncate)')
    return { tables, undated }
  } finally {
    source.close()
    target.close()
  }
}

/** Returns all tables except search indexes, which are virtual tables with shadow tables that triggers fill. */
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
  /** Position in the primary key, starting at 1. Zero for other columns. */
  pk: number
}

function listColumns(handle: SqliteHandle, table: string): Column[] {
  return handle.prepare(`pragma table_info("${table}")`).all() as Column[]
}

function copyTable(source: SqliteHandle, target: SqliteHandle, table: string): SalvagedTable {
  target.exec(`delete from "${table}"`)
  const known = tryRead(() => new Set(listColumns(source, table).map(({ name }) => name))) ?? null
  if (!known?.size) return { table, copied: 0, unreadable: null }
  const columns = listColumns(target, table).filter(({ name }) => known.has(name))
  if (columns.length === 0) return { table, copied: 0, unreadable: 0 }
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const insert = target.prepare(
    `insert or ignore into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`,
  )
  let [copied, invalid] = [0, 0]
  const key = readKey(target, table)
  const add = (row: Record<string, unknown>) => {
    const values = columns.map(({ name }) => row[name])
    const isIntact = (column: Column, i: number) =>
      matchesType(values[i], column) &&
      (!hasReplacement(values[i]) || isStoredAsText(source, { table, key }, row, column))
    if (columns.every(isIntact)) copied += Number(insert.run(...values).changes)
    else invalid++
  }
  const reader = tryRead(() => new RangeReader(source, { table, names, key }, add))
  const range = readKeyRange(source, table, key)
  if (!reader || !range) return { table, copied, unreadable: reader ? 0 : null }
  reader.read(range.first, range.last)
  const unreadable = reader.unreadable + invalid
  return { table, copied, unreadable: (range.isGuessed || !key.isUnique) && unreadable > 0 ? null : unreadable }
}

const ROW_BATCH_SIZE = 500
/** Smaller, because a key that is not unique can have many rows. */
const KEY_BATCH_SIZE = 200
/** Limits the failed reads per table. Beyond it, the rest of a failing range counts as unreadable. */
const MAX_FAILED_READS = 20_000
/** Limits the failed reads without any success. Beyond it, the root page of the table is assumed to be lost. */
const MAX_CONSECUTIVE_FAILURES = 5000
/** Upper end of the search in a table whose newest row is unreadable. */
const MAX_GUESSED_KEY = 2 ** 31

interface Key {
  /** SQL of the column that orders the table on disk. Reading by it does not depend on an index that may be damaged. */
  column: string
  isUnique: boolean
  order: string
}

/** Returns the rowid, or the first column of the primary key for a table without rowids. */
function readKey(target: SqliteHandle, table: string): Key {
  if (tryRead(() => target.prepare(`select rowid from "${table}" limit 0`))) {
    return { column: 'rowid', isUnique: true, order: 'rowid' }
  }
  const names = listColumns(target, table)
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

/** Tables whose ids are the first column of a primary key. */
const REFERENCED_TABLES: Record<string, string> = {
  '"error_id"': 'faultboard_errors',
  '"application_id"': 'faultboard_applications',
}

/** Returns null for an empty table. The first and the last row may be on damaged pages and have any key. */
function readKeyRange(source: SqliteHandle, table: string, { column, isUnique }: Key): KeyRange | null {
  const edge = (order: 'asc' | 'desc') =>
    tryRead(() => {
      const row = source.prepare(`select ${column} as id from "${table}" order by ${column} ${order} limit 1`).get()
      return { id: row ? Number((row as { id: number }).id) : null }
    })
  const [first, last] = [edge('asc'), edge('desc')]
  if (first?.id === null && last?.id === null) return null
  const newest = newestId(source, REFERENCED_TABLES[column] ?? table)
  const keys = [last?.id, newest].filter((key) => typeof key === 'number')
  // A range of unique keys may be too large. Other ranges are read in steps, so the known limit is better.
  const end = isUnique ? Math.max(...keys) : (newest ?? keys[0])
  const isGuessed = keys.length === 0
  return { first: Math.min(first?.id ?? 1, 1), last: isGuessed ? MAX_GUESSED_KEY : Number(end), isGuessed }
}

function newestId(source: SqliteHandle, table: string): number | null {
  const row = tryRead(() => source.prepare('select seq from sqlite_sequence where name = ?').get(table))
  return row ? Number((row as { seq: number }).seq) : null
}

interface ReadTable {
  table: string
  names: string
  key: Key
}

/** Reads the rows of a range of keys. Halves an unreadable range until only unreadable keys remain. */
class RangeReader {
  readonly #key: Key
  readonly #selectRange: SqliteStatement
  /** Statements that read the rows of one key, forward and backward. */
  readonly #selectKey: SqliteStatement[]
  readonly #add: (row: Record<string, unknown>) => void
  unreadable = 0
  #failedReads = 0
  #consecutiveFailures = 0

  constructor(source: SqliteHandle, { table, names, key }: ReadTable, add: (row: Record<string, unknown>) => void) {
    this.#key = key
    this.#add = add
    const select = `select ${key.column} as salvaged_key, ${names} from "${table}" where ${key.column}`
    const limit = key.isUnique ? `limit ${ROW_BATCH_SIZE}` : ''
    this.#selectRange = source.prepare(`${select} between ? and ? order by ${key.column} ${limit}`)
    const backward = key.order.replaceAll(', ', ' desc, ')
    this.#selectKey = [key.order, `${backward} desc`].map((order) =>
      source.prepare(`${select} = ? order by ${order} limit ? offset ?`),
    )
  }

  read(first: number, last: number): void {
    for (let from = first; from <= last; ) {
      if (this.#failedReads > MAX_FAILED_READS || this.#consecutiveFailures > MAX_CONSECUTIVE_FAILURES) {
        this.unreadable += last - from + 1
        return
      }
      const to = this.#key.isUnique ? last : Math.min(last, from + KEY_BATCH_SIZE)
      const rows = this.#try(() => this.#selectRange.all(from, to) as Record<string, unknown>[])
      if (rows) {
        for (const row of rows) this.#add(row)
        const isComplete = !this.#key.isUnique || rows.length < ROW_BATCH_SIZE
        from = isComplete ? to + 1 : Number(rows.at(-1)?.salvaged_key) + 1
        continue
      }
      this.#failedReads++
      this.#consecutiveFailures++
      if (from === to) this.#readAroundDamage(from)
      else {
        const middle = Math.floor((from + to) / 2)
        this.read(from, middle)
        this.read(middle + 1, to)
      }
      from = to + 1
    }
  }

  /** Reads the rows of one key before and after the unreadable rows. */
  #readAroundDamage(key: number): void {
    this.unreadable++
    if (this.#key.isUnique) return
    for (const statement of this.#selectKey) {
      // Avoids nine failing reads per key if even its first row is unreadable.
      if (!this.#try(() => statement.all(key, 1, 0))) continue
      for (let [offset, size] = [0, ROW_BATCH_SIZE]; size >= 1; ) {
        const rows = this.#try(() => statement.all(key, size, offset) as Record<string, unknown>[])
        for (const row of rows ?? []) this.#add(row)
        if (!rows) size = Math.floor(size / 2)
        else if (rows.length < size) break
        else offset += size
      }
    }
  }

  #try<T>(read: () => T): T | null {
    const result = tryRead(read)
    if (result !== null) this.#consecutiveFailures = 0
    return result
  }
}

/** Returns null if SQLite cannot read the result. */
function tryRead<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    // The page is damaged, or an integer exceeds the range of JavaScript numbers. The row is unreadable in both cases.
    return null
  }
}

/**
 * Returns true if a value has the declared type of its column. A damaged row can be readable and contain wrong values.
 */
function matchesType(value: unknown, { type, notnull }: Column): boolean {
  if (value === null) return notnull === 0
  if (/int/i.test(type)) return Number.isSafeInteger(value)
  if (/double|real|float/i.test(type)) return typeof value === 'number'
  if (!/char|text/i.test(type)) return true
  return typeof value === 'string' && !value.includes('\0')
}

/**
 * Returns true if a text contains the replacement character, which can be stored text or the result of invalid bytes.
 */
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
  const stored = tryRead(() =>
    source.prepare(`select cast("${name}" as blob) as bytes from "${table}" where rowid = ?`).get(row.salvaged_key),
  ) as { bytes: Uint8Array } | null | undefined
  return stored ? isUtf8(stored.bytes) : false
}

const REFERENCES = ['error_id', 'parent_error_id', 'child_error_id']

/** Deletes rows of lost errors and creates placeholders for lost applications. */
function removeOrphans(target: SqliteHandle): void {
  target.exec(`insert or ignore into faultboard_applications (id, name, created_at)
    select application_id, 'recovered ' || application_id, min(first_seen_at) from faultboard_errors
    where application_id not in (select id from faultboard_applications) group by application_id`)
  for (const table of copiedTables(target)) {
    for (const { name } of listColumns(target, table)) {
      if (!REFERENCES.includes(name)) continue
      target.exec(
        `delete from "${table}" where "${name}" is not null and "${name}" not in (select id from faultboard_errors)`,
      )
    }
  }
}

/** Deletes the old write-ahead log first, because SQLite would apply it to the new file. */
function replaceFile(path: string, fresh: string): void {
  const { mode, uid, gid } = statSync(path)
  chmodSync(fresh, mode & 0o777)
  try {
    chownSync(fresh, uid, gid)
  } catch {
    // Only root may change the owner. Other users own the old file already or cannot preserve its owner.
  }
  for (const log of [`${path}-wal`, `${path}-shm`]) rmSync(log, { force: true })
  renameSync(fresh, path)
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
}

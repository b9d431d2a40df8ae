import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { SqliteHandle } from '../dialects/sqlite-file.js'
import type { SqliteLibrary } from '../dialects/sqlite-library.js'

/** Row of sqlite_schema that creates a table. */
interface TableRow {
  name: string
  rootpage: number
  sql: string
}

const HEADER_BYTES = 100
const SCHEMA_FORMAT = 4
const UTF_8 = 1
/** First byte of a b-tree page. */
const TABLE_LEAF = 0x0d
const TABLE_PAGES = [TABLE_LEAF, 0x05]
/** Tables without rowids are stored like indexes. */
const INDEX_PAGES = [0x0a, 0x02]

/**
 * Replaces the unreadable schema of a copy with the schema rows found on its readable pages. If the file header is lost
 * too, uses the header of the new file. See https://www.sqlite.org/fileformat2.html.
 */
export function rebuildSchema(copy: string, fresh: string, { DatabaseSync }: SqliteLibrary): void {
  applyLog(copy, DatabaseSync)
  const descriptor = openSync(copy, 'r+')
  let rows: TableRow[]
  try {
    const header = readHeader(descriptor) ?? readFileHeader(fresh)
    if (!header) return
    const pages = new Pages(descriptor, header)
    rows = dropAmbiguous(pages.tableRows()).filter(({ sql }) => isStatement(sql, DatabaseSync))
    pages.writeEmptySchema()
  } finally {
    closeSync(descriptor)
  }
  const handle: SqliteHandle & { enableDefensive?(isActive: boolean): void } = new DatabaseSync(copy)
  try {
    // Defensive mode forbids writes to the schema. Versions without this method never enable it.
    handle.enableDefensive?.(false)
    handle.exec('pragma writable_schema = on; begin')
    const insert = handle.prepare("insert into sqlite_master values ('table', ?, ?, ?, ?)")
    for (const { name, rootpage, sql } of rows) insert.run(name, name, rootpage, sql)
    handle.exec('commit')
  } finally {
    handle.close()
  }
}

/** Opens and closes the copy, which makes SQLite apply the write-ahead log. Deletes a log that cannot be applied. */
function applyLog(copy: string, Library: new (file: string) => SqliteHandle): void {
  const handle = new Library(copy)
  try {
    handle.exec('begin immediate; rollback')
  } catch {
    // Page 1 is unreadable with and without the log.
  } finally {
    handle.close()
  }
  for (const suffix of ['-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true })
}

function readFileHeader(file: string): Buffer | null {
  const descriptor = openSync(file, 'r')
  try {
    return readHeader(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Returns null for an invalid header. */
function readHeader(descriptor: number): Buffer | null {
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(descriptor, header, 0, HEADER_BYTES, 0)
  const isHeader = header.toString('latin1', 0, 15) === 'SQLite format 3'
  return isHeader && isPageSize(readPageSize(header)) ? header : null
}

function readPageSize(header: Buffer): number {
  const size = header.readUInt16BE(16)
  return size === 1 ? 65_536 : size
}

function isPageSize(size: number): boolean {
  return size >= 512 && (size & (size - 1)) === 0
}

/** Returns true if a statement creates a table. A single damaged statement would make the whole schema unreadable. */
function isStatement(sql: string, Library: new (file: string) => SqliteHandle): boolean {
  const handle = new Library(':memory:')
  try {
    handle.exec(sql)
    return true
  } catch {
    // `sqlite_sequence` cannot be created, but the tracker's own tables need it.
    return /^create table sqlite_sequence\(name,seq\)$/i.test(sql)
  } finally {
    handle.close()
  }
}

/** Drops rows with the same name or root page. An unused page may contain an outdated row, so none can be trusted. */
function dropAmbiguous(rows: readonly TableRow[]): TableRow[] {
  const distinct = new Map(rows.map((row) => [JSON.stringify(row), row]))
  const [names, roots] = [new Map<string, number>(), new Map<number, number>()]
  for (const { name, rootpage } of distinct.values()) {
    names.set(name, (names.get(name) ?? 0) + 1)
    roots.set(rootpage, (roots.get(rootpage) ?? 0) + 1)
  }
  return [...distinct.values()].filter(({ name, rootpage }) => names.get(name) === 1 && roots.get(rootpage) === 1)
}

class Pages {
  readonly #descriptor: number
  readonly #header: Buffer
  readonly #size: number
  readonly #count: number

  constructor(descriptor: number, header: Buffer) {
    this.#descriptor = descriptor
    this.#header = header
    this.#size = readPageSize(header)
    this.#count = Math.floor(fstatSync(descriptor).size / this.#size)
  }

  /** Returns the table rows on all readable pages, if the type of their root page matches. */
  tableRows(): TableRow[] {
    const rows: TableRow[] = []
    for (let number = 1; number <= this.#count; number++) {
      const page = this.#read(number)
      const start = number === 1 ? HEADER_BYTES : 0
      if (page[start] === TABLE_LEAF) rows.push(...parseTableRows(page, start))
    }
    return rows.filter(({ rootpage, sql }) => {
      if (rootpage < 2 || rootpage > this.#count) return false
      const kinds = /without rowid\s*$/i.test(sql) ? INDEX_PAGES : TABLE_PAGES
      return kinds.includes(this.#read(rootpage)[0] ?? 0)
    })
  }

  /** Writes page 1 without rows and without a free list, so that SQLite appends new pages. */
  writeEmptySchema(): void {
    const page = Buffer.alloc(this.#size)
    this.#header.copy(page)
    page.fill(1, 18, 20)
    page.writeUInt32BE(this.#count, 28)
    page.fill(0, 32, 40)
    page.copy(page, 92, 24, 28)
    page.writeUInt32BE(SCHEMA_FORMAT, 44)
    if (![1, 2, 3].includes(page.readUInt32BE(56))) page.writeUInt32BE(UTF_8, 56)
    page[HEADER_BYTES] = TABLE_LEAF
    // Zero means 65,536.
    page.writeUInt16BE((this.#size - (this.#header[20] ?? 0)) % 65_536, HEADER_BYTES + 5)
    writeSync(this.#descriptor, page, 0, page.length, 0)
  }

  #read(number: number): Buffer {
    const page = Buffer.alloc(this.#size)
    readSync(this.#descriptor, page, 0, this.#size, (number - 1) * this.#size)
    return page
  }
}

function parseTableRows(page: Buffer, start: number): TableRow[] {
  const rows: TableRow[] = []
  try {
    const cells = page.readUInt16BE(start + 3)
    for (let cell = 0; cell < cells; cell++) {
      const row = parseTableRow(page, page.readUInt16BE(start + 8 + 2 * cell))
      if (row) rows.push(row)
    }
  } catch {
    // A damaged page contains an offset beyond its end.
  }
  return rows
}

/** Parses a cell as a row of sqlite_schema: type, name, tbl_name, rootpage, sql. The tracker's statements fit one page. */
function parseTableRow(page: Buffer, offset: number): TableRow | null {
  const reader = new CellReader(page, offset)
  const payload = reader.varint()
  reader.varint()
  const record = reader.offset
  const headerEnd = record + reader.varint()
  const types = Array.from({ length: 5 }, () => reader.varint())
  if (reader.offset !== headerEnd || record + payload > page.length) return null
  const [type, name, owner, rootpage, sql] = types.map((kind) => reader.value(kind))
  if (type !== 'table' || typeof name !== 'string' || owner !== name) return null
  if (!/^(faultboard_\w+|sqlite_sequence)$/.test(name)) return null
  if (typeof rootpage !== 'number' || typeof sql !== 'string' || !/^create table/i.test(sql)) return null
  return reader.offset === record + payload ? { name, rootpage, sql } : null
}

class CellReader {
  readonly #page: Buffer
  offset: number

  constructor(page: Buffer, offset: number) {
    this.#page = page
    this.offset = offset
  }

  /** Reads a variable-length integer. Schema values need at most four bytes. Longer values exceed every page size. */
  varint(): number {
    let value = 0
    for (let bytes = 0; bytes < 9; bytes++) {
      const byte = this.#page.readUInt8(this.offset++)
      value = value * 128 + (byte & 127)
      if (byte < 128) break
    }
    return value
  }

  /** Reads a text, or an integer of up to six bytes. A schema row contains no other types. */
  value(type: number): string | number | null {
    const bytes = type >= 13 && type % 2 === 1 ? (type - 13) / 2 : ([0, 1, 2, 3, 4, 6][type] ?? 0)
    const from = this.offset
    this.offset += bytes
    if (type >= 13) return this.#page.toString('utf8', from, this.offset)
    if (type === 8 || type === 9) return type - 8
    return bytes > 0 ? this.#page.readIntBE(from, bytes) : null
  }
}

import type { DatabaseTarget } from './database-target.js'
import type { Capabilities } from './dialects/capabilities.js'
import type { Kysely, Dialect as KyselyDialect, RawBuilder, UnknownRow } from './kysely.js'
import type { Schema } from './schema.js'
import type { QueryTimeout } from './sql/query-timeout.js'

/** All differences between the databases. A new database is one file with these members. */
export interface Dialect extends Capabilities, DatabaseTarget {
  readonly kysely: KyselyDialect
  /** Uses the same connections with a query timeout. Absent for an embedded database. */
  kyselyWithTimeout?(timeout: QueryTimeout): KyselyDialect
  readonly columns: ColumnTypes
  /** Follows the column list of `create table`. */
  readonly tableOptions: string | null
  readonly isolation: 'read committed' | null
  readonly search: TextSearch
  /** True if statements run on the host's thread, so that long reads and writes must be split. */
  readonly blocksHost: boolean
  /**
   * Inserts rows in the way that is fastest for the database. Returns the columns in `returning` of the target, or null
   * if the database cannot return inserted rows.
   */
  insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<UnknownRow[] | null>
  /** Inserts into different tables, in order, in one round trip. Absent if the database cannot do that. */
  insertTogether?(db: Kysely<Schema>, inserts: readonly BulkInsert[]): Promise<void>
  /** Classifies an error of the driver. */
  classifyError(error: unknown): ErrorClass
  /** Returns true if the database itself reports that it is locked, shutting down, overloaded, full or damaged. */
  isOutage(error: unknown): boolean
  /** File of an embedded database. Absent for a server and for an in-memory database. */
  readonly file?: DatabaseFile
  /** Returns the pool of the driver for health figures, or null before it is open. Absent for SQLite. */
  pool?(): object | null
  /**
   * Closes all connections because the database does not respond. Idle connections may be dead as well. Returns false if
   * the connections belong to the host and stay open.
   */
  closeConnections(): boolean
  /** Closes everything that the tracker opened. A pool or handle of the host stays open. */
  close(): Promise<void>
}

/** Detects a deleted, replaced or damaged file while it is open. */
export interface DatabaseFile {
  readonly path: string
  /** Changes whenever the schema has to be checked again. */
  readonly generation: number
  readonly replacedCount: number
  /** Message of the database about the damage. Null for an intact file. */
  readonly damage: string | null
  /** Rejects while the file is damaged. */
  verify(): Promise<void>
  /** Calls the listener with a message for the operator. */
  onIncident(listener: (message: string) => void): void
}

/**
 * `conflict`: a concurrent transaction used the same rows, retry immediately. `unavailable`: the database is unreachable
 * or locked, retry later. `statement`: the database refuses the data, a retry cannot succeed.
 */
export type ErrorClass = 'conflict' | 'unavailable' | 'statement'

export interface ColumnTypes {
  /** Type and constraint of a generated primary key. */
  readonly id: string
  /** Type for text that is longer than an index allows. */
  readonly longText: string
  /** Follows the type of a text that is compared by bytes. Null if that is the default. */
  readonly byteOrder: string | null
}

/** Tables with searchable text: `first` has the initial text of errors, `history` their later texts. */
export type SearchedTable = 'first' | 'history'

/** Text search. An index makes it faster but does not change the results. */
export interface TextSearch {
  /** Adds the index if the database supports it. Part of a migration. */
  // biome-ignore lint/suspicious/noExplicitAny: a migration refers to the schema of its own version.
  build(db: Kysely<any>, table: SearchedTable): Promise<void>
  hasIndex(db: Kysely<Schema>): Promise<boolean>
  /**
   * Returns a query for the `error_id` of rows in either table that may contain the text. Null if the database uses its
   * index automatically or the index cannot find the text.
   */
  candidates(text: string, limit: number): RawBuilder<{ error_id: number }> | null
}

/** Table and columns of a bulk insert. Define each as a constant, because the generated SQL is cached per object. */
export interface BulkTarget {
  table: keyof Schema
  columns: readonly BulkColumn[]
  /** If absent, a conflict is an error. */
  onConflict?: { key: readonly string[]; update: readonly BulkUpdate[] }
  returning?: readonly string[]
}

export type BulkInsert = readonly [target: BulkTarget, rows: readonly BulkRow[]]

export type BulkRow = readonly (string | number | null)[]

export interface BulkColumn {
  name: string
  type: 'integer' | 'text' | 'fraction'
}

/**
 * Rule for updating a column of an existing row. `newest` takes the value with the later `shown_at`, `oldest` the value
 * with the earlier `first_seen_at`. `most_severe` takes the higher severity, or keeps the existing severity if an
 * occurrence is older than `reopened_at`.
 */
export interface BulkUpdate<Name extends string = string> {
  column: Name
  by: 'add' | 'replace' | 'greatest' | 'least' | 'newest' | 'oldest' | 'most_severe'
}

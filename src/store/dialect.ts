import type { Capabilities } from './capabilities.js'
import type {
  ColumnDataType,
  ColumnDefinitionBuilder,
  Kysely,
  Dialect as KyselyDialect,
  RawBuilder,
  UnknownRow,
} from './kysely.js'
import type { QueryTimeout } from './query-timeout.js'
import type { Schema } from './schema.js'

/** All differences between the databases. A new database is one file with these members. */
export interface Dialect extends Capabilities {
  /** For people and tests. Code branches on a capability instead. */
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  /** The address without its password, for people. */
  readonly address: string
  /** Whether the schema is ours alone, so that it may be brought up to date without being asked. */
  readonly migrates_itself: boolean
  /** Most events of one transaction: an embedded database blocks the host's thread while it writes. */
  readonly maxRowsPerFlush: number
  readonly kysely: KyselyDialect
  /** The same connections, limited in how long a query may wait; absent for an embedded database. */
  patientKysely?(timeout: QueryTimeout): KyselyDialect
  readonly columns: ColumnTypes
  /** Follows the column list of `create table`. */
  readonly table_options: RawBuilder<unknown> | null
  readonly isolation: 'read committed' | null
  readonly search: TextSearch
  /** Whether statements run on the host's thread, so that long reads and writes must be split. */
  readonly blocks_host: boolean
  /**
   * Writes many rows in as few statements as the database likes best. Gives the columns that the target names in
   * `returning`, or null where the database cannot give them back.
   */
  insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<UnknownRow[] | null>
  /** What an error of the driver means for whoever was using it. */
  faultOf(error: unknown): Fault
  /** Whether the database itself reports that it is locked, shutting down, overloaded, full or damaged. */
  isOutage(error: unknown): boolean
  /** The file of an embedded database; absent for a server and a database in memory. */
  readonly file?: DatabaseFile
  /** The pool behind it once it is open, for what is told of its state; absent where there is none. */
  pool?(): object | null
  /**
   * Closes all connections because the database does not respond. Idle connections may be dead as well. Returns false if
   * the connections belong to the host and stay open.
   */
  closeConnections(): boolean
  /** Releases what we opened. A pool or handle of the host stays open. */
  close(): Promise<void>
}

/** Notices a deleted, replaced or damaged file while it is open. */
export interface DatabaseFile {
  readonly path: string
  /** Changes whenever the schema has to be checked again. */
  readonly generation: number
  readonly replacedCount: number
  /** What the database reported about the damaged file; null for a good one. */
  readonly damage: string | null
  /** Rejects while the file is damaged. */
  verify(): Promise<void>
  /** Calls the listener with a sentence for the operator. */
  onIncident(listener: (sentence: string) => void): void
}

/**
 * `conflict`: others wanted the same rows, try again at once. `unavailable`: the database cannot be reached or is
 * locked, try again later. `statement`: trying again will not help.
 */
export type Fault = 'conflict' | 'unavailable' | 'statement'

export interface ColumnTypes {
  readonly id: ColumnDataType | RawBuilder<unknown>
  identity(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** Text longer than any index takes. */
  readonly long_text: ColumnDataType | RawBuilder<unknown>
}

/** The tables with text to search: what errors began with, and what came later. */
export type SearchedTable = 'first' | 'history'

/** How text is searched. Without an index the results are the same, and slower. */
export interface TextSearch {
  /** Adds the index as far as the database allows it; part of a migration. */
  // biome-ignore lint/suspicious/noExplicitAny: a migration speaks of the schema as it was then.
  build(db: Kysely<any>, table: SearchedTable): Promise<void>
  isBuilt(db: Kysely<Schema>): Promise<boolean>
  /**
   * A query for the `error_id` of the rows of either table that may hold the text, for a database that does not ask its index by
   * itself; null where the index cannot tell.
   */
  candidates(text: string, limit: number): RawBuilder<{ error_id: number }> | null
}

/** A table and the columns that are written to it in bulk; one constant each, so that its SQL is made once. */
export interface BulkTarget {
  table: keyof Schema
  columns: readonly BulkColumn[]
  /** Left out: a conflict is an error. */
  on_conflict?: { key: readonly string[]; update: readonly BulkUpdate[] }
  returning?: readonly string[]
}

export type BulkRow = readonly (string | number | null)[]

export interface BulkColumn {
  name: string
  type: 'integer' | 'text' | 'fraction'
}

/**
 * How a column of an existing row takes the new value; `newest` follows whichever side has the later shown_at,
 * `oldest` whichever has the earlier first_seen_at. `most_severe` keeps the higher of two severities,
 * and the existing one if some of the occurrences are older than `reopened_at`.
 */
export interface BulkUpdate {
  column: string
  by: 'add' | 'replace' | 'greatest' | 'least' | 'newest' | 'oldest' | 'most_severe'
}

import type { ColumnDataType, CreateIndexBuilder, Kysely, RawBuilder, SelectQueryBuilder } from './kysely.js'
import type { Schema } from './schema.js'

// biome-ignore lint/suspicious/noExplicitAny: a migration refers to the schema of its own version, not to the current types.
export type AnyDatabase = Kysely<any>

/** Differences between databases that SQL outside the dialects depends on. Code checks a capability, never a name. */
export interface Capabilities {
  /** The database runs in the process and on the thread of the host. */
  readonly isEmbedded: boolean
  /** Transactions lock single rows. Otherwise transactions write one after the other. */
  readonly hasRowLocks: boolean
  /** Locking a row also locks the index entry that was used to find it, so all writers must use the same index. */
  readonly locksIndexEntries: boolean
  readonly hasPartialIndexes: boolean
  /** Counts and filters have indexes that contain all their columns, because reads block the thread of the host. */
  readonly hasCoveringIndexes: boolean
  /** An update writes an index only if it changes one of the columns of the index. */
  readonly skipsUnchangedIndexes: boolean
  /** `insert ... returning` exists. Otherwise the driver reports the id of an inserted row. */
  readonly hasReturning: boolean
  /** `(a, b) > (1, 2)` uses an index on `a, b`. */
  readonly usesIndexForRowComparison: boolean
  /** pg-boss can store its jobs in this database. */
  readonly canHostPgBoss: boolean
  /** Isolation level for a consistent read of several tables; null if every transaction is one. */
  readonly snapshotIsolation: 'repeatable read' | null
  /** Follows the table name of an update by primary key that must not scan the table. */
  readonly primaryKeyHint: RawBuilder<unknown> | null
  /** Follows `create table` for rows that are stored in the order of their key. */
  readonly clusteredTableOptions: RawBuilder<unknown> | null
  /** Prevents the optimizer from testing rows before they are sorted; null if it never does that. */
  readonly sortFence: SortFence | null
  /** Packs many rows into one JSON text, which is faster to read; null if the database truncates such texts. */
  readonly packRows: ((columns: RawBuilder<unknown>) => RawBuilder<unknown>) | null
  /** Sorts by bytes instead of the language of the database. */
  byteOrder(text: RawBuilder<unknown>): RawBuilder<string>
  /** A column for which the optimizer must not choose an index. */
  withoutIndex<T>(column: RawBuilder<unknown>): RawBuilder<T>
  /** The schema that contains tables without a schema name; undefined if the database has no schemas. */
  currentSchema(db: AnyDatabase): Promise<string | undefined>
  createIndexIfMissing(index: CreateIndexBuilder): Promise<void>
  addColumnIfMissing(db: AnyDatabase, table: string, column: string, type: NewColumnType): Promise<void>
  /** Continues the ids of a table after the highest id. Absent if inserting an id does that. */
  resetSequence?(db: Kysely<Schema>, table: keyof Schema): Promise<void>
}

export type NewColumnType = ColumnDataType | RawBuilder<unknown>

export interface SortFence {
  apply<Table extends keyof Schema, Row>(
    query: SelectQueryBuilder<Schema, Table, Row>,
  ): SelectQueryBuilder<Schema, Table, Row>
  /** Needed even if an index delivers the rows in order. */
  readonly isNeededForIndexes: boolean
  /** The outer query keeps the order of the inner query. */
  readonly keepsOrder: boolean
}

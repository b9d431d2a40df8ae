import type { ColumnDataType, Kysely, RawBuilder, SelectQueryBuilder } from '../kysely.js'
import type { Schema } from '../schema.js'

// biome-ignore lint/suspicious/noExplicitAny: a migration refers to the schema of its own version, not to the current types.
export type AnyDatabase = Kysely<any>

/** Differences between databases that SQL outside the dialects depends on. Code checks a capability, never a name. */
export interface Capabilities {
  /** True if transactions lock single rows. Otherwise, write transactions are serialized. */
  readonly hasRowLocks: boolean
  /** True if a row lock includes the index entry used to find the row, so that all writers must use the same index. */
  readonly locksIndexEntries: boolean
  readonly hasPartialIndexes: boolean
  /** True if counts and filters have covering indexes. Needed if reads block the thread of the host. */
  readonly hasCoveringIndexes: boolean
  /** True if an update skips indexes whose columns it does not change. */
  readonly skipsUnchangedIndexes: boolean
  /** True if `insert ... returning` exists. Otherwise, the driver reports the id of an inserted row. */
  readonly hasReturning: boolean
  /** True if a subquery that refers to the outer row uses a range of an index, not only equal columns. */
  readonly usesRangesInSubqueries: boolean
  /** True if `(a, b) > (1, 2)` uses an index on `a, b`. */
  readonly usesIndexForRowComparison: boolean
  /** Isolation level for a consistent read of several tables. Null if every transaction is a snapshot. */
  readonly snapshotIsolation: 'repeatable read' | null
  /** Hint after the table name of an update by primary key, which prevents a table scan. */
  readonly primaryKeyHint: RawBuilder<unknown> | null
  /** Character that quotes an identifier. */
  readonly identifierQuote: '"' | '`'
  /** Options of `create table` that store rows in key order. */
  readonly clusteredTableOptions: string | null
  /** Prevents the optimizer from filtering rows before it sorts them. Null if the optimizer never does that. */
  readonly sortFence: SortFence | null
  /** Packs many rows into one JSON text, which is faster to read. Null if the database truncates such texts. */
  readonly packRows: ((columns: RawBuilder<unknown>) => RawBuilder<unknown>) | null
  /** Sorts by bytes instead of the collation of the database. */
  byteOrder(text: RawBuilder<unknown>): RawBuilder<string>
  /** Condition that a text starts with another text, in a form for which the database can use an index. */
  startsWith(text: RawBuilder<unknown>, start: string): RawBuilder<boolean>
  /**
   * Condition that a lookup by primary key finds a row, checked row by row. MySQL would turn `exists` into a join that
   * reads the rows of the lookup first, despite a limit.
   */
  lookupExists(lookup: RawBuilder<unknown>): RawBuilder<boolean>
  /** Wraps a column so that the optimizer does not use an index for it. */
  withoutIndex<T>(column: RawBuilder<unknown>): RawBuilder<T>
  /** Wraps a column so that the optimizer does not sort or group rows by reading them in the order of an index. */
  withoutIndexOrder<T>(column: RawBuilder<unknown>): RawBuilder<T>
  /** Returns the schema of unqualified table names, or undefined if the database has no schemas. */
  currentSchema(db: AnyDatabase): Promise<string | undefined>
  /** Query that returns a row if the current schema contains the table. */
  findTable(table: string): RawBuilder<unknown>
  /** Query that returns a row if the table of the current schema has the column. */
  findColumn(table: string, column: string): RawBuilder<unknown>
  createIndexIfMissing(db: AnyDatabase, index: NewIndex): Promise<void>
  dropIndexIfExists(db: AnyDatabase, table: string, index: string): Promise<void>
  addColumnIfMissing(db: AnyDatabase, table: string, column: string, type: NewColumnType): Promise<void>
  /** Continues the ids of a table after the highest id. Absent if the database does that automatically. */
  resetSequence?(db: Kysely<Schema>, table: keyof Schema): Promise<void>
}

export interface NewIndex {
  kind: 'index' | 'unique index'
  /** SQL after `create index`. */
  definition: string
}

export type NewColumnType = ColumnDataType | RawBuilder<unknown>

export interface SortFence {
  apply<Table extends keyof Schema, Row>(
    query: SelectQueryBuilder<Schema, Table, Row>,
  ): SelectQueryBuilder<Schema, Table, Row>
  /** True if the fence is needed even if an index returns the rows in order. */
  readonly isNeededForIndexes: boolean
  /** True if the outer query keeps the order of the inner query. */
  readonly keepsOrder: boolean
}

import type { Dialect } from '../dialect.js'
import type { ColumnDataType, CreateTableBuilder, Kysely, RawBuilder } from '../kysely.js'

// biome-ignore lint/suspicious/noExplicitAny: a migration refers to the schema of its own version, not to the current types.
export type AnyDatabase = Kysely<any>

export interface Migration {
  up(db: AnyDatabase, dialect: Dialect): Promise<void>
}

/** A table as a migration creates it. The columns are in the order of the database. */
export interface CreatedTable {
  columns: Record<string, CreatedColumn>
  /** Primary key of several columns. */
  key?: CreatedKey
  /** Unique constraint of several columns. */
  unique?: CreatedKey
  /** Whether SQLite stores the rows in the order of the key. Otherwise it keeps the key a second time, as an index. */
  isClustered?: boolean
  indexes?: readonly CreatedIndex[]
}

export interface CreatedColumn {
  /** `id` is a primary key that the database assigns, `longText` is text beyond the limits of an index. */
  type: ColumnDataType | 'id' | 'longText'
  isNullable?: boolean
  isPrimaryKey?: boolean
  isUnique?: boolean
  default?: string | number
}

export interface CreatedKey {
  name?: string
  columns: readonly string[]
}

export interface CreatedIndex {
  columns: readonly string[]
  isUnique?: boolean
  name?: string
  /** Rows to include, on databases with partial indexes. The others include all rows. */
  where?: RawBuilder<boolean>
  /** Whether a database needs the index. Every database does by default. */
  when?(dialect: Dialect): boolean
}

/** Creates a table and its indexes. Safe to repeat: MySQL cannot roll back a migration that failed halfway. */
export async function createTable(
  db: AnyDatabase,
  dialect: Dialect,
  name: string,
  { columns, key, unique, isClustered = false, indexes = [] }: CreatedTable,
): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name).ifNotExists()
  for (const [column, definition] of Object.entries(columns)) table = withColumn(table, dialect, column, definition)
  if (key) table = table.addPrimaryKeyConstraint(key.name ?? `${name}_key`, [...key.columns])
  if (unique) table = table.addUniqueConstraint(unique.name ?? `${name}_key`, [...unique.columns])
  if (isClustered && dialect.clusteredTableOptions) table = table.modifyEnd(dialect.clusteredTableOptions)
  if (dialect.tableOptions) table = table.modifyEnd(dialect.tableOptions)
  await table.execute()
  for (const index of indexes) {
    if (index.when?.(dialect) ?? true) await createIndex(db, dialect, name, index)
  }
}

function withColumn(
  table: CreateTableBuilder<string, string>,
  dialect: Dialect,
  name: string,
  { type, isNullable = false, isPrimaryKey = false, isUnique = false, default: value }: CreatedColumn,
): CreateTableBuilder<string, string> {
  if (type === 'id') return table.addColumn(name, dialect.columns.id, (column) => dialect.columns.identity(column))
  return table.addColumn(name, type === 'longText' ? dialect.columns.longText : type, (column) => {
    if (isPrimaryKey) return column.primaryKey()
    let definition = isNullable ? column : column.notNull()
    if (isUnique) definition = definition.unique()
    return value === undefined ? definition : definition.defaultTo(value)
  })
}

export async function createIndex(
  db: AnyDatabase,
  dialect: Dialect,
  table: string,
  { columns, isUnique = false, name, where }: CreatedIndex,
): Promise<void> {
  const plain = db.schema
    .createIndex(name ?? indexName(table, columns))
    .on(table)
    .columns([...columns])
  const builder = isUnique ? plain.unique() : plain
  await dialect.createIndexIfMissing(where && dialect.hasPartialIndexes ? builder.where(where) : builder)
}

/** The shortest limit for identifiers is 63 bytes, on PostgreSQL. */
function indexName(table: string, columns: readonly string[]): string {
  return `${table}_${columns.join('_')}`.slice(0, 60)
}

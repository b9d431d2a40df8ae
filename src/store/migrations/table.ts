import type { Dialect } from '../dialect.js'
import type { ColumnDataType, CreateTableBuilder, Kysely, RawBuilder } from '../kysely.js'

// biome-ignore lint/suspicious/noExplicitAny: a migration refers to the schema of its own version, not to the current types.
export type AnyDatabase = Kysely<any>

export interface Migration {
  up(db: AnyDatabase, dialect: Dialect): Promise<void>
}

/** Definition of a table in a migration, with its columns in database order. */
export interface CreatedTable {
  columns: Record<string, CreatedColumn>
  /** Composite primary key. */
  key?: CreatedKey
  /** Composite unique constraint. */
  unique?: CreatedKey
  /** Whether SQLite stores the rows in key order. Otherwise, it stores the key a second time in an index. */
  isClustered?: boolean
  indexes?: readonly CreatedIndex[]
}

export interface CreatedColumn {
  /** `id` is a generated primary key. `longText` is text that exceeds the limits of an index. */
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
  /** Condition of a partial index. Databases without partial indexes include all rows. */
  where?: RawBuilder<boolean>
  /** Whether the database needs the index. True by default. */
  when?(dialect: Dialect): boolean
}

/** Creates a table and its indexes. Idempotent, because MySQL cannot roll back a failed migration. */
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

/** Truncates the name, because PostgreSQL limits identifiers to 63 bytes. */
function indexName(table: string, columns: readonly string[]): string {
  return `${table}_${columns.join('_')}`.slice(0, 60)
}

import type { Dialect } from '../dialect.js'
import { type ColumnDataType, type CreateTableBuilder, type Kysely, type RawBuilder, sql } from '../kysely.js'

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
  /** `id` is a primary key that the database assigns, `long_text` is text beyond the limits of an index. */
  type: ColumnDataType | 'id' | 'long_text'
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
  /** Databases that have the index; all of them by default. */
  only?: readonly Dialect['name'][]
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
  if (isClustered && dialect.name === 'sqlite') table = table.modifyEnd(sql`without rowid`)
  if (dialect.table_options) table = table.modifyEnd(dialect.table_options)
  await table.execute()
  for (const index of indexes) {
    if (index.only?.includes(dialect.name) ?? true) await createIndex(db, dialect, name, index)
  }
}

function withColumn(
  table: CreateTableBuilder<string, string>,
  dialect: Dialect,
  name: string,
  { type, isNullable = false, isPrimaryKey = false, isUnique = false, default: value }: CreatedColumn,
): CreateTableBuilder<string, string> {
  if (type === 'id') return table.addColumn(name, dialect.columns.id, (column) => dialect.columns.identity(column))
  return table.addColumn(name, type === 'long_text' ? dialect.columns.long_text : type, (column) => {
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
  if (dialect.name !== 'mysql') {
    const partial = where ? builder.where(where) : builder
    return partial.ifNotExists().execute()
  }
  await builder.execute().catch((error: unknown) => {
    // MySQL has no `if not exists` for indexes.
    if ((error as { code?: string }).code !== 'ER_DUP_KEYNAME') throw error
  })
}

/** The shortest limit for identifiers is 63 bytes, on PostgreSQL. */
function indexName(table: string, columns: readonly string[]): string {
  return `${table}_${columns.join('_')}`.slice(0, 60)
}

/** Adds a column that may be null. Does nothing if the column exists after a migration that failed halfway. */
export async function addColumn(
  db: AnyDatabase,
  dialect: Dialect,
  table: string,
  column: string,
  type: ColumnDataType | RawBuilder<unknown>,
): Promise<void> {
  // Introspection on PostgreSQL would include tables of other schemas.
  if (dialect.name === 'postgres') {
    const definition = typeof type === 'string' ? sql.raw(type) : type
    await sql`alter table ${sql.table(table)} add column if not exists ${sql.ref(column)} ${definition}`.execute(db)
    return
  }
  const tables = await db.introspection.getTables()
  if (tables.find(({ name }) => name === table)?.columns.some(({ name }) => name === column)) return
  await db.schema.alterTable(table).addColumn(column, type).execute()
}

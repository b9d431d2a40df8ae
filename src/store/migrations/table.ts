import type { Dialect } from '../dialect.js'
import { type Kysely, sql } from '../kysely.js'

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
  /** True if SQLite stores the rows in key order. Otherwise, it stores the key a second time in an index. */
  isClustered?: boolean
  indexes?: readonly CreatedIndex[]
}

export interface CreatedColumn {
  /** SQL type. `id` is a generated primary key. `longText` is text that exceeds the limits of an index. */
  type: string
  isNullable?: boolean
  /** True if an index finds texts by their start, in any locale of the database. */
  isByteOrdered?: boolean
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
  /** SQL condition of a partial index. Databases without partial indexes include all rows. */
  where?: string
  /** Returns true if the database needs the index. By default, every database needs it. */
  when?(dialect: Dialect): boolean
}

/**
 * Creates a table and its indexes. Idempotent, because MySQL cannot roll back a failed migration. Uses plain SQL, because
 * the schema builder of Kysely takes twice as long as SQLite, which delays the start with a new database.
 */
export async function createTable(
  db: AnyDatabase,
  dialect: Dialect,
  name: string,
  { columns, key, unique, isClustered = false, indexes = [] }: CreatedTable,
): Promise<void> {
  const quote = quoteWith(dialect)
  const constraint = (kind: string, { name: keyName, columns }: CreatedKey) =>
    `constraint ${quote(keyName ?? `${name}_key`)} ${kind} (${columns.map(quote).join(', ')})`
  const definitions = [
    ...Object.entries(columns).map(([column, definition]) => `${quote(column)} ${columnSql(dialect, definition)}`),
    ...(key ? [constraint('primary key', key)] : []),
    ...(unique ? [constraint('unique', unique)] : []),
  ]
  const clauses = [
    `create table if not exists ${quote(name)} (${definitions.join(', ')})`,
    isClustered ? dialect.clusteredTableOptions : null,
    dialect.tableOptions,
  ]
  await sql.raw(clauses.filter((clause) => clause !== null).join(' ')).execute(db)
  for (const index of indexes) {
    if (index.when?.(dialect) ?? true) await createIndex(db, dialect, name, index)
  }
}

function columnSql(
  { columns }: Dialect,
  {
    type,
    isNullable = false,
    isByteOrdered = false,
    isPrimaryKey = false,
    isUnique = false,
    default: value,
  }: CreatedColumn,
): string {
  if (type === 'id') return columns.id
  const clauses = [type === 'longText' ? columns.longText : type]
  if (isByteOrdered && columns.byteOrder) clauses.push(columns.byteOrder)
  if (value !== undefined) clauses.push(`default ${typeof value === 'number' ? value : `'${value}'`}`)
  if (isPrimaryKey) clauses.push('primary key')
  else if (!isNullable) clauses.push('not null')
  if (isUnique) clauses.push('unique')
  return clauses.join(' ')
}

export async function createIndex(
  db: AnyDatabase,
  dialect: Dialect,
  table: string,
  { columns, isUnique = false, name, where }: CreatedIndex,
): Promise<void> {
  const quote = quoteWith(dialect)
  const condition = where && dialect.hasPartialIndexes ? ` where ${where}` : ''
  await dialect.createIndexIfMissing(db, {
    kind: isUnique ? 'unique index' : 'index',
    definition: `${quote(name ?? indexName(table, columns))} on ${quote(table)} (${columns.map(quote).join(', ')})${condition}`,
  })
}

function quoteWith({ identifierQuote }: Dialect): (name: string) => string {
  return (name) => `${identifierQuote}${name}${identifierQuote}`
}

/** Truncates the name, because PostgreSQL limits identifiers to 63 bytes. */
function indexName(table: string, columns: readonly string[]): string {
  return `${table}_${columns.join('_')}`.slice(0, 60)
}

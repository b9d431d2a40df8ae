import type { Dialect } from '../dialect.js'
import { type ColumnDataType, type CreateTableBuilder, type Kysely, type RawBuilder, sql } from '../kysely.js'

// biome-ignore lint/suspicious/noExplicitAny: a migration speaks of the schema as it was then, not of today's types.
export type AnyDatabase = Kysely<any>

export interface Migration {
  up(db: AnyDatabase, dialect: Dialect): Promise<void>
}

/** A table with an `id` of its own. */
export function tableWithId(db: AnyDatabase, dialect: Dialect, name: string): CreateTableBuilder<string, string> {
  return table(db, dialect, name).addColumn('id', dialect.columns.id, (column) => dialect.columns.identity(column))
}

/**
 * A table spelt for the dialect. `if not exists`, because MySQL cannot undo a migration that failed half-way: it is
 * run again from its start.
 */
export function table(db: AnyDatabase, dialect: Dialect, name: string): CreateTableBuilder<string, string> {
  const builder = db.schema.createTable(name).ifNotExists()
  return dialect.table_options ? builder.modifyEnd(dialect.table_options) : builder
}

/** An index; of the rows with a value in `present` only, where the database can leave the others out. */
export async function index(
  db: AnyDatabase,
  dialect: Dialect,
  on: string,
  columns: string[],
  { present, unique = false }: { present?: string; unique?: boolean } = {},
): Promise<void> {
  const name = `${on}_${columns.join('_')}`.slice(0, 60)
  const plain = db.schema.createIndex(name).on(on).columns(columns)
  const builder = unique ? plain.unique() : plain
  if (dialect.name !== 'mysql') {
    const partial = present ? builder.where(present, 'is not', null) : builder
    return partial.ifNotExists().execute()
  }
  await builder.execute().catch((error: unknown) => {
    // MySQL has no `if not exists` for an index; this is its word for one that is there already.
    if ((error as { code?: string }).code !== 'ER_DUP_KEYNAME') throw error
  })
}

export async function dropIndex(db: AnyDatabase, dialect: Dialect, on: string, name: string): Promise<void> {
  if (dialect.name !== 'mysql') return db.schema.dropIndex(name).ifExists().execute()
  await db.schema
    .dropIndex(name)
    .on(on)
    .execute()
    .catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'ER_CANT_DROP_FIELD_OR_KEY') throw error
    })
}

/** A column that may be empty. One that is there already, from a run that failed half-way, stays. */
export async function addColumn(
  db: AnyDatabase,
  dialect: Dialect,
  on: string,
  column: string,
  type: ColumnDataType | RawBuilder<unknown>,
): Promise<void> {
  // PostgreSQL alone has words for it; asked what there is, it would tell of other schemas too.
  if (dialect.name === 'postgres') {
    const spelt = typeof type === 'string' ? sql.raw(type) : type
    await sql`alter table ${sql.table(on)} add column if not exists ${sql.ref(column)} ${spelt}`.execute(db)
    return
  }
  const tables = await db.introspection.getTables()
  if (tables.find(({ name }) => name === on)?.columns.some(({ name }) => name === column)) return
  await db.schema.alterTable(on).addColumn(column, type).execute()
}

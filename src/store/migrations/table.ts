import type { Dialect } from '../dialect.js'
import type { CreateTableBuilder, Kysely } from '../kysely.js'

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

export async function index(db: AnyDatabase, dialect: Dialect, on: string, columns: string[]): Promise<void> {
  const name = `${on}_${columns.join('_')}`.slice(0, 60)
  const builder = db.schema.createIndex(name).on(on).columns(columns)
  if (dialect.name !== 'mysql') return builder.ifNotExists().execute()
  await builder.execute().catch((error: unknown) => {
    // MySQL has no `if not exists` for an index; this is its word for one that is there already.
    if ((error as { code?: string }).code !== 'ER_DUP_KEYNAME') throw error
  })
}

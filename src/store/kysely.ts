/**
 * What we use of Kysely. As 262 modules it takes most of the time and memory of our start, so the build puts this file
 * and what it leads to into one; see docs/decisions/0004-modules-are-joined.md.
 */

export type * from 'kysely'
export {
  CompiledQuery,
  Kysely,
  Migrator,
  MysqlDialect,
  PostgresDialect,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'

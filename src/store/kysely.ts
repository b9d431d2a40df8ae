/**
 * Exports of Kysely that the tracker uses. Its 262 modules would take most of the startup time and memory, so the build
 * bundles this file with its dependencies. See docs/decisions/0004-modules-are-joined.md.
 */

export type * from 'kysely'
export {
  CompiledQuery,
  Kysely,
  MysqlDialect,
  PostgresDialect,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'

import { cachePerTarget, conflictClause, insertClause, returningClause, type SqlSyntax } from '../bulk/bulk-sql.js'
import type { BulkRow, BulkTarget } from '../dialect.js'
import { CompiledQuery, type Kysely, type UnknownRow } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Query that `SqliteConnection` splits into the statements of `bulkStatements`. */
export type BulkQuery = CompiledQuery & { readonly bulk?: { target: BulkTarget; rows: readonly BulkRow[] } }

const SYNTAX: SqlSyntax = { quote: '"', incoming: (column) => `excluded."${column}"`, greatest: 'max', least: 'min' }
/** Limits the parameters of one statement. A call of the driver takes longer than SQLite needs for a narrow row. */
const MAX_PARAMETERS = 200

/** Implements `insertMany` of the dialect. Upserted rows are read afterward, which takes half the time of `returning`. */
export async function insertMany(
  db: Kysely<Schema>,
  target: BulkTarget,
  rows: readonly BulkRow[],
): Promise<UnknownRow[]> {
  const query: BulkQuery = { ...CompiledQuery.raw(''), bulk: { target, rows } }
  const inserted = (await db.executeQuery<UnknownRow>(query)).rows
  if (!isReadAfterward(target)) return inserted
  const { columns, onConflict, returning = [] } = target
  const positions = onConflict?.key.map((name) => columns.findIndex((column) => column.name === name)) ?? []
  const keys = rows.map((row) => positions.map((position) => row[position]))
  const result = await db.executeQuery<{ packed: string }>(CompiledQuery.raw(readSql(target), [JSON.stringify(keys)]))
  const lists = JSON.parse(result.rows[0]?.packed ?? '[]') as unknown[][]
  return lists.map((list) => Object.fromEntries(returning.map((column, i) => [column, list[i]])))
}

/** Yields each statement with its values: as many full statements as possible, and one statement for each remaining row. */
export function* bulkStatements({ target, rows }: Required<BulkQuery>['bulk']): Generator<[sql: string, BulkRow]> {
  const size = rowsPerStatement(target)
  const end = rows.length - (rows.length % size)
  for (let i = 0; i < end; i += size) yield [fullInsertSql(target), flattenRows(rows, i, i + size)]
  for (const row of rows.slice(end)) yield [insertSql(target), row]
}

/** Concatenates rows. `flat` takes ten times as long. */
function flattenRows(rows: readonly BulkRow[], from: number, to: number): BulkRow {
  const values: (string | number | null)[] = []
  for (let i = from; i < to; i++) for (const value of rows[i] ?? []) values.push(value)
  return values
}

/** Returns true if every row exists after the insert. With `do nothing`, only new rows are returned. */
function isReadAfterward({ returning, onConflict }: BulkTarget): boolean {
  return returning !== undefined && onConflict !== undefined && onConflict.update.length > 0
}

function rowsPerStatement(target: BulkTarget): number {
  if (target.returning && !isReadAfterward(target)) return 1
  return Math.max(1, Math.floor(MAX_PARAMETERS / target.columns.length))
}

const insertSql = cachePerTarget((target) => insertSqlFor(target, 1))
const fullInsertSql = cachePerTarget((target) => insertSqlFor(target, rowsPerStatement(target)))

function insertSqlFor(target: BulkTarget, rowCount: number): string {
  const row = `(${target.columns.map(() => '?').join(', ')})`
  const values = Array.from({ length: rowCount }, () => row).join(', ')
  const returning = isReadAfterward(target) ? '' : returningClause(target)
  return `${insertClause(target, SYNTAX)} values ${values}${conflictClause(target, SYNTAX)}${returning}`
}

/** Selects the rows with the given keys in their order, as one text, because building objects takes the driver longer. */
const readSql = cachePerTarget(({ table, onConflict, returning = [] }) => {
  const columns = returning.map((column) => `stored."${column}"`).join(', ')
  const isMatch = onConflict?.key.map((column, i) => `stored."${column}" = wanted.value ->> ${i}`).join(' and ')
  return `select json_group_array(json_array(${columns})) as packed
    from json_each(?) as wanted cross join "${table}" as stored on ${isMatch}`
})

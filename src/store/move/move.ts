import { TrackerError } from '../../model/errors.js'
import type { Database } from '../database.js'
import { type Kysely, sql, type Transaction } from '../kysely.js'
import { describePendingMigrations, migrate } from '../migrate.js'
import { type Schema, TABLE_NAMES, tableDefinition } from '../schema.js'
import { type Columns, readColumns, readRows, TableChecksum } from './read-table.js'

export interface MoveResult {
  tables: MovedTable[]
  /** Occurrences that the source has counted since the snapshot. They are not in the target. */
  counted_since: number
}

export interface MovedTable {
  table: string
  rows: number
  /** Column that was summed, with its total. */
  sum: { column: string; total: number } | null
}

export interface MoveProgress {
  step: 'copy' | 'verify'
  table: string
  /** Rows that this step has processed in all tables. */
  rows: number
  total: number
}

/**
 * Copies every row from one database to another with the same ids. Reads a snapshot of the source and never writes to it.
 * Writes the target in one transaction, which also reads every row back and compares it. The target therefore contains
 * everything or nothing.
 */
export async function moveDatabase(
  from: Database,
  to: Database,
  onProgress?: (progress: MoveProgress) => void,
): Promise<MoveResult> {
  await migrate(to)
  const columns = await requireSameColumns(from, to)
  const tables = await readSnapshot(from, (source) =>
    to.write(async (target) => {
      await clearTarget(target, to)
      const total = onProgress ? await countRows(source) : 0
      const counter = (step: MoveProgress['step']) => {
        let rows = 0
        return (table: string, added: number) => {
          rows += added
          onProgress?.({ step, table, rows, total })
        }
      }
      const [onCopied, onVerified] = [counter('copy'), counter('verify')]
      const copied = new Map<keyof Schema, TableChecksum>()
      for (const table of TABLE_NAMES) {
        copied.set(table, await copyTable({ from, source, to, target, table, columns, onRows: onCopied }))
      }
      for (const [table, checksum] of copied) {
        await verifyTable({ to, target, table, columns, checksum, onRows: onVerified })
      }
      await resetSequences(target, to)
      return [...copied].map(([table, checksum]) => toMovedTable(table, checksum))
    }),
  )
  const moved = tables.find(({ table }) => table === 'faultboard_errors')?.sum?.total ?? 0
  return { tables, counted_since: (await countOccurrences(from)) - moved }
}

/** Refuses a source with a different schema version. */
export async function requireMovable(from: Database): Promise<void> {
  const outdated = await describePendingMigrations(from)
  if (outdated === null) return
  throw new TrackerError(
    'schema_outdated',
    `The schema of ${from.dialect.address} does not match this version, and a move does not change the source. Migrate it first: npx faultboard migrate --database URL`,
  )
}

async function requireSameColumns(from: Database, to: Database): Promise<Columns> {
  const [sourceColumns, targetColumns] = [await readColumns(from), await readColumns(to)]
  for (const table of TABLE_NAMES) {
    const names = (all: Columns) => (all.get(table) ?? []).map(({ name }) => name).sort()
    if (names(sourceColumns).join() === names(targetColumns).join()) continue
    throw new TrackerError(
      'schema_outdated',
      `${table} has the columns ${names(sourceColumns).join(', ')} in the source, but ${names(targetColumns).join(', ')} in the target. Run  npx faultboard migrate  on both with the same version of Faultboard.`,
    )
  }
  return targetColumns
}

/** Reads a consistent snapshot of the source. Blocks writers of an embedded database until it ends. */
async function readSnapshot<T>(
  { read, dialect }: Database,
  work: (source: Transaction<Schema>) => Promise<T>,
): Promise<T> {
  const plain = read.transaction()
  const level = dialect.snapshotIsolation
  const transaction = level ? plain.setIsolationLevel(level).setAccessMode('read only') : plain
  let workError: unknown = null
  try {
    return await transaction.execute((source) =>
      work(source).catch((error) => {
        workError = error
        throw error
      }),
    )
  } catch (error) {
    // After a lost connection, the rollback fails too. Only the original error is useful.
    throw workError ?? error
  }
}

/** Refuses a target with data, and deletes the rows that a host creates when it starts. */
async function clearTarget(target: Transaction<Schema>, { dialect }: Database): Promise<void> {
  const used: string[] = []
  for (const table of TABLE_NAMES) {
    if (!tableDefinition(table).isDisposable && (await hasRows(target, table))) used.push(table)
  }
  if (used.length > 0) {
    throw new TrackerError(
      'not_possible_now',
      `${dialect.address} is in use. It has rows in ${used.join(', ')}. The target of a move must not contain errors. Use another database, or drop its faultboard_ tables first. To merge errors into existing errors, use  faultboard export  and  faultboard import.`,
    )
  }
  for (const table of TABLE_NAMES) {
    if (tableDefinition(table).isDisposable) await sql`delete from ${sql.table(table)}`.execute(target)
  }
}

async function hasRows(db: Kysely<Schema>, table: keyof Schema): Promise<boolean> {
  const { rows } = await sql`select 1 as found from ${sql.table(table)} limit 1`.execute(db)
  return rows.length > 0
}

interface TableCopy {
  from: Database
  source: Transaction<Schema>
  to: Database
  target: Transaction<Schema>
  table: keyof Schema
  columns: Columns
  onRows: (table: string, added: number) => void
}

async function copyTable({ from, source, to, target, table, columns, onRows }: TableCopy): Promise<TableChecksum> {
  onRows(table, 0)
  const tableColumns = columns.get(table) ?? []
  const checksum = new TableChecksum(table, tableColumns)
  const bulk = { table, columns: tableColumns }
  for await (const batch of readSource(from, readRows(source, from.dialect, table, tableColumns))) {
    checksum.add(batch)
    await to.dialect.insertMany(target, bulk, batch)
    onRows(table, batch.length)
  }
  return checksum
}

/** Adds the address to read errors, because two databases are involved. */
async function* readSource<Rows>({ dialect }: Database, batches: AsyncIterable<Rows>): AsyncGenerator<Rows> {
  try {
    yield* batches
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TrackerError(
      'database_unavailable',
      `Cannot read all of ${dialect.address}: ${reason}. The target was rolled back. Run the move again.`,
      { cause },
    )
  }
}

async function verifyTable({
  to,
  target,
  table,
  columns,
  checksum,
  onRows,
}: Omit<TableCopy, 'from' | 'source'> & { checksum: TableChecksum }): Promise<void> {
  const tableColumns = columns.get(table) ?? []
  const actual = new TableChecksum(table, tableColumns)
  for await (const batch of readRows(target, to.dialect, table, tableColumns)) {
    actual.add(batch)
    onRows(table, batch.length)
  }
  if (actual.equals(checksum)) return
  throw new TrackerError(
    'not_possible_now',
    `${table} differs after the copy: read ${checksum.rows} rows (sum ${checksum.sum}), but the target has ${actual.rows} (sum ${actual.sum}). The target was rolled back.`,
  )
}

async function countRows(source: Transaction<Schema>): Promise<number> {
  let total = 0
  for (const table of TABLE_NAMES) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(source)
    total += Number(rows[0]?.count ?? 0)
  }
  return total
}

/** Needed because inserting explicit ids does not advance the sequences of every database. */
async function resetSequences(target: Transaction<Schema>, { dialect }: Database): Promise<void> {
  for (const table of TABLE_NAMES) {
    if (tableDefinition(table).key[0] === 'id') await dialect.resetSequence?.(target, table)
  }
}

function toMovedTable(table: keyof Schema, { rows, sum }: TableChecksum): MovedTable {
  const { sum: column } = tableDefinition(table)
  return { table, rows, sum: column === undefined ? null : { column, total: sum } }
}

async function countOccurrences({ read }: Database): Promise<number> {
  const { total } = await read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.sum<number>('occurrence_count').as('total'))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

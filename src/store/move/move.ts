import { TrackerError } from '../../model/errors.js'
import type { Database } from '../database.js'
import { type Kysely, sql, type Transaction } from '../kysely.js'
import { migrate, outdatedSchema } from '../migrate.js'
import type { Schema } from '../schema.js'
import { type Columns, columnsOf } from './columns.js'
import { rowsOf, Tally } from './read-table.js'
import { movedTable, TABLE_NAMES } from './tables.js'

export interface Moved {
  tables: MovedRows[]
  /** Occurrences that the source has counted since its picture was taken: they are only there. */
  counted_since: number
}

export interface MovedRows {
  table: string
  rows: number
  /** The column that was summed, and its sum. */
  sum: { column: string; total: number } | null
}

/**
 * Copies every row from one database to another, under the same ids. The source is read as it is at one moment and never
 * written. The target takes all in one transaction, in which every row is read back and compared: it has everything or
 * nothing, however this ends.
 */
export async function moveDatabase(from: Database, to: Database, onTable: (name: string) => void): Promise<Moved> {
  await migrate(to)
  const columns = await sameColumns(from, to)
  const tables = await picture(from, (source) =>
    to.write(async (target) => {
      await makeRoom(target, to)
      const copied = new Map<keyof Schema, Tally>()
      for (const table of TABLE_NAMES) {
        onTable(table)
        copied.set(table, await copyTable({ from, source, to, target, table, columns }))
      }
      for (const [table, tally] of copied) await verify({ to, target, table, columns, tally })
      await setSequences(target, to)
      return [...copied].map(([table, tally]) => told(table, tally))
    }),
  )
  const moved = tables.find(({ table }) => table === 'faultboard_errors')?.sum?.total ?? 0
  return { tables, counted_since: (await occurrencesIn(from)) - moved }
}

/** Refuses a source whose schema is another than that of this version. */
export async function requireMovable(from: Database): Promise<void> {
  const outdated = await outdatedSchema(from)
  if (outdated === null) return
  throw new TrackerError(
    'schema_outdated',
    `The schema of ${from.dialect.address} is not that of this version, and a move leaves the source as it is. Bring it up to date first: npx faultboard migrate --database URL`,
  )
}

async function sameColumns(from: Database, to: Database): Promise<Columns> {
  const [there, here] = [await columnsOf(from), await columnsOf(to)]
  for (const table of TABLE_NAMES) {
    const names = (all: Columns) => (all.get(table) ?? []).map(({ name }) => name).sort()
    if (names(there).join() === names(here).join()) continue
    throw new TrackerError(
      'schema_outdated',
      `${table} has the columns ${names(there).join(', ')} in the source, but ${names(here).join(', ')} in the target. Run  npx faultboard migrate  on both with one version of Faultboard.`,
    )
  }
  return here
}

/** The source as it is at one moment. An embedded database is locked for writing meanwhile, and nothing is written. */
async function picture<T>({ read, dialect }: Database, work: (source: Transaction<Schema>) => Promise<T>): Promise<T> {
  const plain = read.transaction()
  const level = dialect.snapshotIsolation
  const transaction = level ? plain.setIsolationLevel(level).setAccessMode('read only') : plain
  let first: unknown = null
  try {
    return await transaction.execute((source) =>
      work(source).catch((error) => {
        first = error
        throw error
      }),
    )
  } catch (error) {
    // Where the connection is lost, ending the transaction fails as well; the first complaint is the one that counts.
    throw first ?? error
  }
}

/** Refuses a target that holds anything of value, and clears away what a host leaves by starting. */
async function makeRoom(target: Transaction<Schema>, { dialect }: Database): Promise<void> {
  const taken: string[] = []
  for (const table of TABLE_NAMES) {
    if (!movedTable(table).gives_way && (await hasRows(target, table))) taken.push(table)
  }
  if (taken.length > 0) {
    throw new TrackerError(
      'not_possible_now',
      `${dialect.address} is in use: there are rows in ${taken.join(', ')}. A move wants a target without errors, so that nothing is mixed or counted twice. Name another database, or drop its faultboard_ tables first; to add errors to those that are there, use  faultboard export  and  faultboard import.`,
    )
  }
  for (const table of TABLE_NAMES) {
    if (movedTable(table).gives_way) await sql`delete from ${sql.table(table)}`.execute(target)
  }
}

async function hasRows(db: Kysely<Schema>, table: keyof Schema): Promise<boolean> {
  const { rows } = await sql`select 1 as found from ${sql.table(table)} limit 1`.execute(db)
  return rows.length > 0
}

interface Copy {
  from: Database
  source: Transaction<Schema>
  to: Database
  target: Transaction<Schema>
  table: keyof Schema
  columns: Columns
}

async function copyTable({ from, source, to, target, table, columns }: Copy): Promise<Tally> {
  const own = columns.get(table) ?? []
  const tally = new Tally(table, own)
  const bulk = { table, columns: own }
  for await (const part of readFrom(from, rowsOf(source, from.dialect, table, own))) {
    tally.add(part)
    await to.dialect.insertMany(target, bulk, part)
  }
  return tally
}

/** Who has two databases before them wants to know which one it was. */
async function* readFrom<Part>({ dialect }: Database, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  try {
    yield* parts
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TrackerError(
      'database_unavailable',
      `Cannot read ${dialect.address} to its end: ${reason}. Nothing was kept in the target: move again.`,
      { cause },
    )
  }
}

async function verify({
  to,
  target,
  table,
  columns,
  tally,
}: Omit<Copy, 'from' | 'source'> & { tally: Tally }): Promise<void> {
  const own = columns.get(table) ?? []
  const arrived = new Tally(table, own)
  for await (const part of rowsOf(target, to.dialect, table, own)) arrived.add(part)
  if (arrived.equals(tally)) return
  throw new TrackerError(
    'not_possible_now',
    `${table} did not arrive as it was: ${tally.rows} rows were read (sum ${tally.sum}), ${arrived.rows} are in the target (sum ${arrived.sum}). Nothing was kept in the target.`,
  )
}

/** Inserted ids do not advance the sequences of every database. */
async function setSequences(target: Transaction<Schema>, { dialect }: Database): Promise<void> {
  for (const table of TABLE_NAMES) {
    if (movedTable(table).key[0] === 'id') await dialect.resetSequence?.(target, table)
  }
}

function told(table: keyof Schema, { rows, sum }: Tally): MovedRows {
  const { sum: column } = movedTable(table)
  return { table, rows, sum: column === undefined ? null : { column, total: sum } }
}

async function occurrencesIn({ read }: Database): Promise<number> {
  const { total } = await read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.sum<number>('occurrence_count').as('total'))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

import type { Generated } from './kysely.js'

/** Column with its type in rows. */
export interface Column<Type> {
  readonly kind: 'integer' | 'fraction' | 'text'
  /** Never set. Carries the type. */
  readonly type?: Type
}

type Columns = Readonly<Record<string, Column<unknown>>>

export interface Table<Name extends string = string> {
  readonly columns: Columns
  /** Primary key, which is also the order of reads while rows are moved to another database. */
  readonly key: readonly Name[]
  /** Column whose total is compared after a move, next to the number of rows. */
  readonly sum?: Name
  /** Rows per read of a move. Smaller for tables with wide rows. */
  readonly batchSize?: number
  /** True if a host creates rows when it starts. A move deletes them in a target without errors. */
  readonly isDisposable?: true
}

export type Row<Defined extends Columns> = {
  [Name in keyof Defined]: Defined[Name] extends Column<infer Type> ? Type : never
}

/** Generated primary key. */
export const id: Column<Generated<number>> = { kind: 'integer' }
export const integer: Column<number> = { kind: 'integer' }
export const fraction: Column<number> = { kind: 'fraction' }
export const text: Column<string> = { kind: 'text' }

/** Text with a limited set of values. */
export const textOf = <Value extends string>(): Column<Value> => ({ kind: 'text' })

export function nullable<Type>({ kind }: Column<Type>): Column<Type | null> {
  return { kind }
}

export function defineTable<Defined extends Columns>(
  table: Table<keyof Defined & string> & { columns: Defined },
): Omit<Table, 'columns'> & { readonly columns: Defined } {
  return table
}

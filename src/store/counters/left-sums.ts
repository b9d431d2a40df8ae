import { readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool } from '../spool/spool.js'
import type { HourRow } from './hour-rows.js'
import type { HourTable } from './hour-table.js'

/** Sums that a process could not write before it ended, under the id that makes them count once. */
export interface LeftSums<Name extends string = string, Amount extends string = string> {
  batch_id: string
  application_name: string
  rows: readonly HourRow<Name, Amount>[]
}

const VERSION = 1
const MAX_BYTES = 10_000_000

/** Leaves them in the spool folder for whoever counts the same next; gives whether there was room for them. */
export function leaveSums(spool: Spool, { target }: HourTable, sums: LeftSums): boolean {
  try {
    const content = Buffer.from(JSON.stringify({ version: VERSION, ...sums }))
    return content.length <= MAX_BYTES && spool.leaveSync(`${prefixOf(target)}${sums.batch_id}.json`, content)
  } catch {
    // A folder that cannot be written: the caller counts what is lost.
    return false
  }
}

/** Hands over what was left, one after the other, and removes what was taken. */
export async function takeLeftSums<Name extends string, Amount extends string>(
  spool: Spool,
  table: HourTable<Name, Amount>,
  take: (sums: LeftSums<Name, Amount>) => Promise<void>,
): Promise<void> {
  for (const name of await leftSums(spool, table)) {
    const file = join(spool.folder, name)
    const sums = await read(file, table)
    if (sums === 'gone') continue
    if (sums === null) {
      // For a person to look at; it is not tried again.
      await rename(file, `${file}.failed`).catch(() => {})
      continue
    }
    await take(sums)
    await unlink(file).catch(() => {})
  }
}

/** The names of the files that were left for this table. */
export async function leftSums(spool: Spool, { target }: HourTable): Promise<string[]> {
  const prefix = prefixOf(target)
  return (await spool.leftovers()).filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
}

function prefixOf({ table }: HourTable['target']): string {
  return `sums-${table}-`
}

async function read<Name extends string, Amount extends string>(
  file: string,
  table: HourTable<Name, Amount>,
): Promise<LeftSums<Name, Amount> | 'gone' | null> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return null
    const { version, batch_id, application_name, rows } = JSON.parse(await readFile(file, 'utf8'))
    const is_whole = typeof batch_id === 'string' && typeof application_name === 'string' && Array.isArray(rows)
    return version === VERSION && is_whole && rows.every((row) => isRow(row, table))
      ? { batch_id, application_name, rows }
      : null
  } catch (error) {
    // Another process was quicker.
    return (error as { code?: unknown }).code === 'ENOENT' ? 'gone' : null
  }
}

function isRow(row: unknown, { names, amounts }: HourTable): boolean {
  const { hour, names: texts, amounts: numbers } = Object(row)
  return (
    Number.isSafeInteger(hour) &&
    Object.keys(names).every((name) => typeof Object(texts)[name] === 'string') &&
    Object.keys(amounts).every((name) => Number.isSafeInteger(Object(numbers)[name]))
  )
}

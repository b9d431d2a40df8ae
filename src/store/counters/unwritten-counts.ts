import { readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool } from '../spool/spool.js'
import type { HourTable } from './define-hour-table.js'
import type { HourRow } from './hour-rows.js'

/** Counts that a process could not write before exit. The batch id makes the import idempotent. */
export interface UnwrittenCounts<Name extends string = string, Amount extends string = string> {
  batch_id: string
  application_name: string
  rows: readonly HourRow<Name, Amount>[]
}

const VERSION = 1
const MAX_BYTES = 10_000_000

/** Writes counts to the spool folder. Returns false if the folder is full or cannot be written. */
export function saveUnwritten(spool: Spool, { target }: HourTable, counts: UnwrittenCounts): boolean {
  try {
    const content = Buffer.from(JSON.stringify({ version: VERSION, ...counts }))
    const name = `${filePrefix(target)}${counts.batch_id}.json`
    return content.length <= MAX_BYTES && spool.writeOtherFileSync(name, content)
  } catch {
    // The caller counts the loss.
    return false
  }
}

/** Passes the counts of each file to `write`, then deletes the file. */
export async function importUnwritten<Name extends string, Amount extends string>(
  spool: Spool,
  table: HourTable<Name, Amount>,
  write: (counts: UnwrittenCounts<Name, Amount>) => Promise<void>,
): Promise<void> {
  for (const name of await listUnwritten(spool, table)) {
    const file = join(spool.folder, name)
    const counts = await readCounts(file, table)
    if (counts === 'missing') continue
    if (counts === null) {
      // Kept for manual inspection, not retried.
      await rename(file, `${file}.failed`).catch(() => {})
      continue
    }
    await write(counts)
    await unlink(file).catch(() => {})
  }
}

/** Returns the names of the files with counts of this table. */
export async function listUnwritten(spool: Spool, { target }: HourTable): Promise<string[]> {
  const prefix = filePrefix(target)
  return (await spool.listFiles()).filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
}

function filePrefix({ table }: HourTable['target']): string {
  return `sums-${table}-`
}

/** Returns null for an invalid file. */
async function readCounts<Name extends string, Amount extends string>(
  file: string,
  table: HourTable<Name, Amount>,
): Promise<UnwrittenCounts<Name, Amount> | 'missing' | null> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return null
    const { version, batch_id, application_name, rows } = JSON.parse(await readFile(file, 'utf8'))
    const isComplete = typeof batch_id === 'string' && typeof application_name === 'string' && Array.isArray(rows)
    return version === VERSION && isComplete && rows.every((row) => isHourRow(row, table))
      ? { batch_id, application_name, rows }
      : null
  } catch (error) {
    // Another process may have imported the file.
    return (error as { code?: unknown }).code === 'ENOENT' ? 'missing' : null
  }
}

function isHourRow(row: unknown, { names, amounts }: HourTable): boolean {
  const { hour, names: texts, amounts: numbers } = Object(row)
  return (
    Number.isSafeInteger(hour) &&
    Object.keys(names).every((name) => typeof Object(texts)[name] === 'string') &&
    Object.keys(amounts).every((name) => Number.isSafeInteger(Object(numbers)[name]))
  )
}

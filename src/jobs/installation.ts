import { randomUUID } from 'node:crypto'
import type { Context } from '../context.js'
import type { BulkTarget } from '../store/dialect.js'

const MARK: BulkTarget = {
  table: 'faultboard_leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'holder', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [] },
}
const NAME = 'installation'

/**
 * Identifies the database of a tracker, independent of its URL. Jobs refer to its rows: with a shared Redis, a worker
 * of another installation must not claim them.
 */
export async function installationId({ database, ready }: Pick<Context, 'database' | 'ready'>): Promise<string> {
  await ready()
  const marked = () =>
    database.read.selectFrom('faultboard_leases').select('holder').where('name', '=', NAME).executeTakeFirst()
  const known = (await marked())?.holder
  if (known) return known
  const row = [NAME, randomUUID(), 0]
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, MARK, [row])))
  const made = (await marked())?.holder
  if (!made) throw new Error('the database did not store the installation id')
  return made
}

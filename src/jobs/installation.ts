import { randomUUID } from 'node:crypto'
import type { Context } from '../context.js'
import type { BulkTarget } from '../store/dialect.js'

const INSTALLATION_ROW: BulkTarget = {
  table: 'faultboard_leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'holder', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [] },
}
const LEASE_NAME = 'installation'

/**
 * Identifies the database of a tracker, independent of its URL. Jobs refer to rows in that database, so a worker of
 * another installation on the same Redis must not claim them.
 */
export async function installationId({ database, ready }: Pick<Context, 'database' | 'ready'>): Promise<string> {
  await ready()
  const readId = () =>
    database.read.selectFrom('faultboard_leases').select('holder').where('name', '=', LEASE_NAME).executeTakeFirst()
  const existingId = (await readId())?.holder
  if (existingId) return existingId
  const row = [LEASE_NAME, randomUUID(), 0]
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, INSTALLATION_ROW, [row])))
  const storedId = (await readId())?.holder
  if (!storedId) throw new Error('the database did not store the installation id')
  return storedId
}

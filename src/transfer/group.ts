import { applicationId } from '../store/applications.js'
import type { Database } from '../store/database.js'
import type { BulkTarget } from '../store/dialect.js'
import { environmentsOfApplication } from '../store/environments.js'
import type { Transaction } from '../store/kysely.js'
import type { Schema } from '../store/schema.js'
import { type ErrorRow, lockErrors } from '../store/sql/row-locks.js'
import { markerName, originId } from './origin.js'

export interface Application {
  id: number
  name: string
  created_at: number
}

/** The application with that name, created if it does not exist. */
export async function findOrCreateApplication(database: Database, name: string, now: number): Promise<Application> {
  const id = await applicationId(database, name, now)
  const { created_at } = await database.read
    .selectFrom('faultboard_applications')
    .select('created_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { id, name, created_at }
}

/** Locks and returns the group, or returns null. */
export async function lockGroup(
  trx: Transaction<Schema>,
  { dialect }: Database,
  application: Application,
  { environment, hash_signature }: { environment: string; hash_signature: string },
): Promise<ErrorRow | null> {
  const found = await trx
    .selectFrom('faultboard_errors')
    .select('id')
    .where('application_id', '=', application.id)
    .where('environment', '=', environment)
    .where('hash_signature', '=', hash_signature)
    .executeTakeFirst()
  if (!found) return null
  return (await lockErrors(trx, dialect, [found.id]))[0] ?? null
}

/** Revision imported from these origins; `own` if the line was exported from this group. */
export async function importedRevision(
  trx: Transaction<Schema>,
  application: Application,
  row: Pick<ErrorRow, 'id' | 'hash_signature'>,
  origins: readonly string[],
): Promise<string | 'own' | null> {
  const marker = await trx
    .selectFrom('faultboard_leases')
    .select('holder')
    .where(
      'name',
      'in',
      origins.map((origin) => markerName(row.id, origin)),
    )
    .executeTakeFirst()
  // Checked first: an error imported into an empty database can have the same id as in the source.
  if (marker) return marker.holder ?? ''
  const ownOrigin = originId({
    application_name: application.name,
    application_created_at: application.created_at,
    hash_signature: row.hash_signature,
    error_id: row.id,
  })
  return origins.includes(ownOrigin) ? 'own' : null
}

/** Returns the environment of the error into which the origins were imported. Exports of 0.4.0 do not contain it. */
export async function importedEnvironment(
  trx: Transaction<Schema>,
  application: Application,
  { hash_signature, origins }: { hash_signature: string; origins: readonly string[] },
): Promise<string | null> {
  const environments = await environmentsOfApplication(trx, application.id)
  if (environments.length === 0) return null
  const rows = await trx
    .selectFrom('faultboard_errors')
    .select(['id', 'environment', 'hash_signature'])
    .where('application_id', '=', application.id)
    .where('environment', 'in', environments)
    .where('hash_signature', '=', hash_signature)
    .execute()
  for (const row of rows) {
    if ((await importedRevision(trx, application, row, origins)) !== null) return row.environment
  }
  return null
}

/** Marks an origin as imported. The revision is stored in the holder column of a lease. */
export const IMPORT_MARKERS: BulkTarget = {
  table: 'faultboard_leases',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'holder', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [{ column: 'holder', by: 'replace' }] },
}

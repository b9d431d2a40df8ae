import type { Context } from '../context.js'
import { DEFAULT_ENVIRONMENT } from '../model/environment.js'
import { applicationId } from '../store/applications.js'
import { CLIENT_RELEASES, RELEASES } from '../store/bulk/bulk-targets.js'
import type { Database } from '../store/database.js'
import type { BulkTarget } from '../store/dialect.js'
import type { ApplicationLine } from './record.js'

/** Adds an application with the first-seen times of its releases. Keeps the earlier time of a known release. */
export async function addApplication({ database }: Context, line: ApplicationLine): Promise<void> {
  const { application_name, created_at, releases, client_releases } = line
  const application_id = await applicationId(database, application_name, created_at)
  await addReleases(database, RELEASES, application_id, releases)
  await addReleases(database, CLIENT_RELEASES, application_id, client_releases)
}

async function addReleases(
  database: Database,
  target: BulkTarget,
  application_id: number,
  releases: ApplicationLine['releases'],
): Promise<void> {
  if (releases.length === 0) return
  const earliest = new Map<string, ApplicationLine['releases'][number] & { environment: string }>()
  for (const release of releases) {
    const environment = release.environment ?? DEFAULT_ENVIRONMENT
    const key = `${release.platform}\n${release.version}\n${environment}`
    const existing = earliest.get(key)
    if (!existing || release.first_seen_at < existing.first_seen_at) earliest.set(key, { ...release, environment })
  }
  // Same order as a flush, so that the two wait for each other instead of deadlocking.
  const rows = [...earliest]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { platform, version, environment, first_seen_at }]) => [
      ...[application_id, platform, version, environment, first_seen_at],
    ])
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, target, rows)))
}

import type { Context } from '../../context.js'
import { configuredPath } from './dashboard-links.js'

/** Accepts plain path segments only, because the path is part of a request URL. */
const SAFE_PATH = /^(?:\/[\w.~%-]+)*$/
const MAX_PATH_LENGTH = 255

/**
 * Stores the dashboard's public path for links in notifications. Returns false when the application has no row yet,
 * because it has not recorded an error.
 */
export async function storeDashboardPath(context: Context, path: string): Promise<boolean> {
  if (path.length > MAX_PATH_LENGTH || !SAFE_PATH.test(path)) return true
  // A path that follows from the options is not stored, so that changed options take effect immediately.
  const dashboard_path = path === configuredPath(context.config) ? null : path
  await context.ready()
  const application = await applicationRow(context)
  if (!application) return false
  if (application.dashboard_path === dashboard_path) return true
  await context.database.read
    .updateTable('faultboard_applications')
    .set({ dashboard_path })
    .where('id', '=', application.id)
    .execute()
  return true
}

/**
 * Public path detected from dashboard requests. Null when it follows from the options or no request has arrived yet.
 */
export async function detectedDashboardPath(context: Context): Promise<string | null> {
  return (await applicationRow(context))?.dashboard_path ?? null
}

async function applicationRow({ database, config }: Context) {
  return database.read
    .selectFrom('faultboard_applications')
    .select(['id', 'dashboard_path'])
    .where('name', '=', config.application_name)
    .executeTakeFirst()
}

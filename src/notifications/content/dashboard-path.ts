import type { Context } from '../../context.js'
import { pathByOptions } from './links.js'

/** What may stand in front of every link: whole steps of a path, none of them invented by a visitor's browser. */
const PATH = /^(?:\/[\w.~%-]+)*$/
const MAX_LENGTH = 255

/**
 * Keeps where the dashboard of this application stands for people, so that messages lead there. Gives whether it is
 * kept: an application that has recorded nothing yet has no row to keep it in.
 */
export async function rememberDashboardPath(context: Context, path: string): Promise<boolean> {
  if (path.length > MAX_LENGTH || !PATH.test(path)) return true
  // What the options say is not kept, so that a change of theirs is followed at once.
  const dashboard_path = path === pathByOptions(context.config) ? null : path
  await context.ready()
  const known = await rowOf(context)
  if (!known) return false
  if (known.dashboard_path === dashboard_path) return true
  await context.database.read
    .updateTable('faultboard_applications')
    .set({ dashboard_path })
    .where('id', '=', known.id)
    .execute()
  return true
}

/** Where visitors have found it; null where that is what the options say, or nobody came yet. */
export async function dashboardPath(context: Context): Promise<string | null> {
  return (await rowOf(context))?.dashboard_path ?? null
}

async function rowOf({ database, config }: Context) {
  return database.read
    .selectFrom('faultboard_applications')
    .select(['id', 'dashboard_path'])
    .where('name', '=', config.application_name)
    .executeTakeFirst()
}

import type { Context } from '../../context.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type Release, releaseKey } from './releases.js'

export interface NewErrors {
  new_count: number
  open_new_count: number
}

/** A few releases at a time: an embedded database holds the host's thread while it reads. */
const RELEASES_AT_ONCE = 3

/** How many errors were first seen in each of these releases, and how many of them are open, by its key. */
export async function newErrors({ database }: Context, releases: readonly Release[]): Promise<Map<string, NewErrors>> {
  const { read, dialect } = database
  const step = dialect.rows_at_once === null ? Math.max(1, releases.length) : RELEASES_AT_ONCE
  const found = new Map<string, NewErrors>()
  for (let i = 0; i < releases.length; i += step) {
    const some = releases.slice(i, i + step)
    const rows = await read
      .selectFrom('faultboard_errors')
      .select(({ fn }) => ['application_id', 'first_app_version', fn.countAll<number>().as('error_count')])
      .select(({ fn }) => fn.sum<number>('resolved').as('resolved_count'))
      .where('first_app_version', 'in', [...new Set(some.map(({ app_version }) => app_version))])
      .where(withoutIndex(dialect, 'application_id'), 'in', [...new Set(some.map((one) => one.application_id))])
      .groupBy(['application_id', 'first_app_version'])
      .execute()
    for (const { application_id, first_app_version, error_count, resolved_count } of rows) {
      const key = releaseKey({ application_id, app_version: first_app_version ?? '' })
      found.set(key, { new_count: error_count, open_new_count: error_count - resolved_count })
    }
  }
  return found
}

import type { Context } from '../../context.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type Release, releaseKey } from './releases.js'

export interface NewErrors {
  new_count: number
  open_new_count: number
}

/** New errors of each release by its key, and how many of them are open. */
export async function newErrors({ database }: Context, releases: readonly Release[]): Promise<Map<string, NewErrors>> {
  const { read, dialect } = database
  if (releases.length === 0) return new Map()
  const rows = await read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => ['application_id', 'first_app_version', fn.countAll<number>().as('error_count')])
    .select(({ fn }) => fn.sum<number>('resolved').as('resolved_count'))
    .where('first_app_version', 'in', [...new Set(releases.map(({ app_version }) => app_version))])
    .where(withoutIndex(dialect, 'application_id'), 'in', [...new Set(releases.map((one) => one.application_id))])
    .groupBy(['application_id', 'first_app_version'])
    .execute()
  return new Map(
    rows.map(({ application_id, first_app_version, error_count, resolved_count }) => [
      releaseKey({ application_id, app_version: first_app_version ?? '' }),
      { new_count: error_count, open_new_count: error_count - resolved_count },
    ]),
  )
}

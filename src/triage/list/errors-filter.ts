import * as v from 'valibot'
import type { Context } from '../../context.js'
import { choice, clampedInteger, filterText, flag, id, integer, optional, withDefault } from '../../model/input.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import { SEVERITIES } from '../../model/severity.js'
import { TIMEFRAMES, timeframeSpan } from '../../model/time.js'
import { STATUSES } from '../../model/workflow.js'
import { type SelectQueryBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { withoutIndex } from '../../store/sort-order.js'
import { affects, fromCommit, occurredOn, seenIn } from '../queries/errors-seen.js'
import { calendarDay } from './calendar-day.js'

export const SORT_FIELDS = [
  'occurred_at',
  'first_seen_at',
  'occurrence_count',
  'error_type',
  'platform',
  'severity',
  'priority_level',
  'status',
  'app_version',
] as const

export const UNASSIGNED = '__unassigned__'
export const MAX_PER_PAGE = 100

export const errorsListInput = v.object({
  page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
  per_page: withDefault(clampedInteger({ min: 1, max: MAX_PER_PAGE }), 25),
  // A client that reports as `ios` is kept as iOS, and is looked for as either.
  platform: v.pipe(
    filterText({ max: 64, note: 'errors last seen on this platform' }),
    v.transform((platform) => (platform === undefined ? undefined : normalizePlatform(platform))),
  ),
  error_type: filterText({ max: 255 }),
  severity: optional(choice(SEVERITIES)),
  status: optional(choice(STATUSES)),
  assigned_to: filterText({ max: 255 }),
  priority_level: optional(integer({ min: 0, max: 4 })),
  unresolved: optional(flag()),
  hide_snoozed: optional(flag()),
  search: filterText({ max: 1000 }),
  timeframe: optional(choice(TIMEFRAMES)),
  day: optional(calendarDay()),
  sort_by: optional(choice(SORT_FIELDS)),
  sort_direction: optional(choice(['asc', 'desc'])),
  application_id: optional(id()),
  user_id: filterText({ max: 255 }),
  app_version: filterText({ max: 128, note: 'errors that were ever seen in this version' }),
  git_sha: filterText({
    max: 64,
    note: 'errors last seen in this commit; seven hex digits or more may be its beginning',
  }),
})

export type ErrorsListInput = v.InferInput<typeof errorsListInput>
export type ErrorsFilter = Partial<v.InferOutput<typeof errorsListInput>>

export type ErrorsQuery<O> = SelectQueryBuilder<Schema, 'faultboard_errors', O>

const EQUAL = ['platform', 'error_type', 'severity', 'status', 'priority_level'] as const

/** Which conditions SQLite may look up in an index, where something else finds the rows sooner. */
export interface Lookups {
  /** Pays when all rows of the application are wanted in the order of that index. */
  by_application?: boolean
  by_time?: boolean
}

/** Every condition of the filter but `search`, which is a question of its own. */
export function filtered<O>(
  query: ErrorsQuery<O>,
  filter: ErrorsFilter,
  context: Context,
  { by_application = !hasFilters(filter), by_time = true }: Lookups = {},
): ErrorsQuery<O> {
  const { config, now, database } = context
  let result = query
  if (filter.application_id !== undefined) {
    const column = 'faultboard_errors.application_id'
    const id = by_application ? sql.ref(column) : withoutIndex(database.dialect, column)
    result = result.where(sql<boolean>`${id} = ${filter.application_id}`)
  }
  for (const column of EQUAL) {
    const wanted = filter[column]
    if (wanted !== undefined) result = result.where(`faultboard_errors.${column}`, '=', wanted)
  }
  const { application_id, app_version, git_sha, assigned_to, user_id, day } = filter
  if (assigned_to === UNASSIGNED) result = result.where('faultboard_errors.assigned_to', 'is', null)
  else if (assigned_to !== undefined) result = result.where('faultboard_errors.assigned_to', '=', assigned_to)
  if (filter.unresolved) result = result.where('faultboard_errors.resolved', '=', 0)
  if (filter.hide_snoozed) {
    result = result.where(({ eb, or }) =>
      or([eb('faultboard_errors.snoozed_until', 'is', null), eb('faultboard_errors.snoozed_until', '<=', now())]),
    )
  }
  if (filter.timeframe) {
    const { from, to } = timeframeSpan(filter.timeframe, now(), config.time_zone)
    const column = 'faultboard_errors.occurred_at'
    const time = by_time ? sql.ref<number>(column) : withoutIndex(database.dialect, column)
    result = result.where(time, '>=', from)
    if (to !== null) result = result.where(time, '<', to)
  }
  if (day !== undefined) result = result.where((eb) => occurredOn(eb, day, config.time_zone))
  if (user_id !== undefined) result = result.where((eb) => affects(eb, user_id))
  if (app_version !== undefined)
    result = result.where((eb) => seenIn(eb, database.dialect, { app_version, application_id }))
  if (git_sha !== undefined) result = result.where(fromCommit(database.dialect, git_sha))
  return result
}

/** Whether the filter asks for more than an application and an order. */
export function hasFilters(filter: ErrorsFilter): boolean {
  const { application_id, page, per_page, sort_by, sort_direction, ...others } = filter
  return Object.values(others).some((value) => value !== undefined && value !== false)
}

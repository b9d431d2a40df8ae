import type { StrongCascade } from '../../../analytics/cascades/strongest-cascades.js'
import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { PeriodView } from '../../../analytics/sums/period.js'
import { SEVERITIES, type Severity } from '../../../model/severity/severity.js'
import { STATUSES } from '../../../model/workflow.js'
import type { Pagination } from '../../../triage/list/errors-list.js'
import { always, named, nullable, number, object, text, time, whole, word } from '../schema.js'

export const severity = word(SEVERITIES)
export const status = word(STATUSES)

export const severityCounts = named(
  'SeverityCounts',
  object<Record<Severity, number>>({ critical: whole, high: whole, medium: whole, low: whole }),
)

export const pagination = named(
  'Pagination',
  object<Pagination>(
    { page: whole, per_page: whole, total_count: whole, total_pages: whole, total_is_lower_bound: always },
    ['total_is_lower_bound'],
  ),
)

export const plainPagination = named(
  'PlainPagination',
  object<Omit<Pagination, 'total_is_lower_bound'>>({
    page: whole,
    per_page: whole,
    total_count: whole,
    total_pages: whole,
  }),
)

export const period = named('Period', object<PeriodView>({ days: whole, from: time, to: time, time_zone: text }))

/** Fields of a reference to an error. */
export const RANKED = {
  id: whole,
  application_id: whole,
  error_type: text,
  message: text,
  place: nullable(text),
  severity,
  status,
  assigned_to: nullable(text),
  occurrence_count: whole,
  first_seen_at: time,
  occurred_at: time,
  reopened_at: nullable(time),
  regressed_in_version: nullable(text),
}

export const rankedError = named('RankedError', object<RankedError>(RANKED))

export const strongCascade = named(
  'StrongCascade',
  object<StrongCascade>({
    parent: rankedError,
    child: rankedError,
    followed_count: whole,
    parent_count: whole,
    average_delay_ms: whole,
    probability: number,
    expected_probability: number,
    lift: number,
    counted_since: nullable(time),
    last_detected_at: time,
  }),
)

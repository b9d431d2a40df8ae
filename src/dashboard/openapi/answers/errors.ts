import type { ErrorBaseline } from '../../../analytics/baselines/error-baseline.js'
import type { Cascade, ErrorCascades } from '../../../analytics/cascades/error-cascades.js'
import type { CoOccurringError } from '../../../analytics/co-occurring-errors.js'
import type { Burst, CyclicalPattern } from '../../../analytics/patterns/pattern-detector.js'
import { PATTERN_TYPES } from '../../../analytics/patterns/pattern-detector.js'
import type { SimilarError } from '../../../analytics/similar-errors.js'
import { CLIENT_SOURCES } from '../../../model/event.js'
import type { ErrorsPage, ListedError } from '../../../triage/list/errors-list.js'
import type { ErrorChanges, ErrorUpdate } from '../../../triage/queries/error-changes.js'
import type { ErrorGrouping } from '../../../triage/queries/error-grouping.js'
import type { ErrorHistory } from '../../../triage/queries/error-history.js'
import type {
  Activity,
  CapturedData,
  Comment,
  ErrorRecord,
  ErrorSummary,
  Occurrence,
  OccurrenceBreadcrumb,
  SelectedOccurrence,
} from '../../../triage/queries/error-record.js'
import type { ErrorUsers } from '../../../triage/queries/error-users.js'
import {
  always,
  anyObject,
  anything,
  day,
  flag,
  list,
  map,
  named,
  nullable,
  number,
  object,
  text,
  time,
  whole,
  word,
} from '../schema.js'
import { pagination, rankedError, severity, status } from './shared.js'

const SUMMARY = {
  id: whole,
  application_id: whole,
  application_name: text,
  error_type: text,
  message: text,
  source: nullable(word(CLIENT_SOURCES)),
  place: nullable(text),
  severity,
  status,
  resolved: flag,
  priority_level: whole,
  assigned_to: nullable(text),
  snoozed: flag,
  snoozed_until: nullable(time),
  snooze_reason: nullable(text),
  muted: flag,
  muted_at: nullable(time),
  muted_until: nullable(time),
  muted_by_name: nullable(text),
  mute_reason: nullable(text),
  platform: text,
  app_version: nullable(text),
  first_app_version: nullable(text),
  git_sha: nullable(text),
  user_id: nullable(text),
  occurrence_count: whole,
  user_count: whole,
  first_seen_at: time,
  occurred_at: time,
  resolved_at: nullable(time),
  resolved_by_name: nullable(text),
  resolution_comment: nullable(text),
  resolution_reference: nullable(text),
  reopened_at: nullable(time),
  resolved_in_version: nullable(text),
  regressed_in_version: nullable(text),
  hash_signature: text,
}

export const errorsAnswer = object<ErrorsPage>({
  errors: list(named('ListedError', object<ListedError>({ ...SUMMARY, daily_counts: list(whole) }))),
  pagination,
})

export const changesAnswer = object<ErrorChanges>(
  {
    new_count: whole,
    new_count_is_lower_bound: always,
    updated: list(
      object<ErrorUpdate>({
        id: whole,
        occurrence_count: whole,
        user_count: whole,
        occurred_at: time,
        status,
        severity,
        daily_counts: list(whole),
      }),
    ),
  },
  ['new_count_is_lower_bound'],
)

const breadcrumb = object<OccurrenceBreadcrumb>(
  { occurred_at: time, category: text, message: text, duration_ms: number, metadata: anyObject },
  ['duration_ms', 'metadata'],
)

const CIRCUMSTANCES: Parameters<typeof object<CapturedData>>[0] = {
  request_url: nullable(text),
  request_params: anything,
  ip_address: nullable(text),
  user_agent: nullable(text),
  request: nullable(anyObject),
  tags: anyObject,
  context: anyObject,
  breadcrumbs: list(breadcrumb),
  details: anyObject,
}

const OCCURRENCE = {
  id: whole,
  occurred_at: time,
  message: text,
  platform: text,
  app_version: nullable(text),
  git_sha: nullable(text),
  user_id: nullable(text),
  ...CIRCUMSTANCES,
}

const occurrence = named('Occurrence', object<Occurrence>(OCCURRENCE))

const run = {
  started_at: time,
  ended_at: time,
  occurrence_count: whole,
  duration_seconds: number,
  per_minute: number,
}

const baseline = nullable(object<{ mean: number; std_dev: number }>({ mean: number, std_dev: number }))

const cascades = list(
  object<Cascade>({
    error: rankedError,
    followed_count: whole,
    parent_count: whole,
    probability: number,
    expected_probability: number,
    lift: number,
    average_delay_ms: whole,
    counted_since: nullable(time),
    last_detected_at: time,
  }),
)

/** Sections without data are omitted. */
interface Related {
  cascades?: ErrorCascades
  co_occurring_errors?: CoOccurringError[]
  similar_errors?: SimilarError[]
  baseline?: ErrorBaseline
  occurrence_pattern?: CyclicalPattern
  bursts?: Burst[]
}

const related = object<Related>(
  {
    cascades: object<ErrorCascades>({ leads_to: cascades, caused_by: cascades }),
    co_occurring_errors: list(
      object<CoOccurringError>({
        error: rankedError,
        together_count: whole,
        moment_count: whole,
        checked_count: whole,
        share: number,
        expected_share: number,
        lift: number,
      }),
    ),
    similar_errors: list(object<SimilarError>({ error: rankedError, similarity: number })),
    baseline: object<ErrorBaseline>({
      error_type: text,
      platform: text,
      hour: baseline,
      day: baseline,
      count: whole,
      deviations: nullable(number),
      is_above: flag,
      calculated_at: time,
    }),
    occurrence_pattern: object<CyclicalPattern>({
      pattern_type: word(PATTERN_TYPES),
      pattern_strength: number,
      peak_hours: list(whole),
      hourly_distribution: map(whole),
      weekday_distribution: list(whole),
      total: whole,
    }),
    bursts: list(object<Burst>({ ...run, is_lower_bound: flag, occurrences_in_hours: whole })),
  },
  ['cascades', 'co_occurring_errors', 'similar_errors', 'baseline', 'occurrence_pattern', 'bursts'],
)

interface ErrorAnswer extends Omit<ErrorRecord, 'signature_place'> {
  history: ErrorHistory
  top_users: ErrorUsers
  grouping: ErrorGrouping
  related: Related
}

export const errorAnswer = object<{ error: ErrorAnswer }>({
  error: named(
    'Error',
    object<ErrorAnswer>({
      ...(SUMMARY satisfies Parameters<typeof object<ErrorSummary>>[0]),
      ...CIRCUMSTANCES,
      last_app_version: nullable(text),
      backtrace: list(text),
      causes: list(anyObject),
      comments: list(object<Comment>({ id: whole, author_name: text, body: text, created_at: time })),
      activities: list(
        object<Activity>({
          id: whole,
          actor: text,
          action: text,
          from_value: nullable(text),
          to_value: nullable(text),
          comment: nullable(text),
          created_at: time,
        }),
      ),
      occurrence: nullable(
        object<SelectedOccurrence>({
          ...OCCURRENCE,
          previous_id: nullable(whole),
          next_id: nullable(whole),
          position: nullable(whole),
        }),
      ),
      occurrences: list(occurrence),
      occurrences_pagination: pagination,
      history: object<ErrorHistory>({
        hours: list(object<ErrorHistory['hours'][number]>({ starts_at: time, count: whole })),
        days: list(object<ErrorHistory['days'][number]>({ day, starts_at: time, count: whole })),
        app_versions: list(object<ErrorHistory['app_versions'][number]>({ app_version: nullable(text), count: whole })),
        platforms: list(object<ErrorHistory['platforms'][number]>({ platform: text, count: whole })),
      }),
      top_users: object<ErrorUsers>({
        users: list(object<ErrorUsers['users'][number]>({ user_id: text, count: whole, last_seen_at: time })),
        scope: word(['all', 'recent']),
      }),
      grouping: object<ErrorGrouping>({
        grouped_by: word(['parts', 'many_messages', 'other']),
        error_type: text,
        message: text,
        root_cause: nullable(text),
        place: list(text),
      }),
      related,
    }),
  ),
})

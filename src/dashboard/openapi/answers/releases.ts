import type { ChangedError, ReleaseChanges } from '../../../analytics/releases/release-changes.js'
import type { ListedRelease, ReleaseList } from '../../../analytics/releases/release-list.js'
import { day, list, named, nullable, number, object, text, time, whole, word } from '../schema.js'
import { period, plainPagination, RANKED, rankedError, severityCounts } from './shared.js'

export const stability = word(['stable', 'shaky', 'unstable'])

export const versionFigures = {
  application_id: whole,
  app_version: text,
  occurrences: whole,
  share: number,
  per_day: number,
  severities: severityCounts,
  new_error_count: whole,
  first_seen_at: time,
  last_seen_at: time,
}

const changed = list(named('ChangedError', object<ChangedError>({ ...RANKED, count: whole, before_count: whole })))

export const releaseChanges = named(
  'ReleaseChanges',
  object<ReleaseChanges>({
    application_id: whole,
    app_version: text,
    first_seen_at: time,
    before_version: nullable(text),
    new_errors: changed,
    new_count: whole,
    gone_errors: changed,
    gone_count: whole,
    worse_errors: changed,
    worse_count: whole,
    regressed_errors: list(rankedError),
    regressed_count: whole,
    versions: list(text),
  }),
)

export const releasesAnswer = object<ReleaseList & { release: ReleaseChanges | null; counted_at: string }>({
  period,
  trend_dates: list(day),
  releases: list(
    object<ListedRelease>({
      application_id: whole,
      app_version: text,
      before_version: nullable(text),
      first_seen_at: time,
      last_seen_at: time,
      occurrences: whole,
      share: number,
      severities: severityCounts,
      per_day: number,
      trend: list(whole),
      new_count: whole,
      open_new_count: whole,
      regressed_count: whole,
      gone_count: whole,
      worse_count: whole,
      stability_score: number,
      status: stability,
    }),
  ),
  pagination: plainPagination,
  release: nullable(releaseChanges),
  counted_at: time,
})

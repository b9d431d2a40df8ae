import { SEVERITIES, type Severity } from '../../model/severity.js'
import { HOUR } from '../../model/time.js'
import type { VersionSum } from '../sums/hour-sums.js'
import { elapsedDays } from '../sums/period.js'

export type SeverityCounts = Record<Severity, number>

/** A version of an application that reported within the last year. */
export interface Release {
  application_id: number
  app_version: string
  occurrences: number
  severities: SeverityCounts
  /** The hour of its first and of its last occurrence. */
  first_hour: number
  last_hour: number
}

/** The same with when it was first seen: to the millisecond where that was noted, else by the hour. */
export interface DatedRelease extends Release {
  first_seen_at: number
  /** Reported by clients only; the server has never run it. */
  is_client: boolean
}

export function releasesOf(sums: readonly VersionSum[]): Release[] {
  const found = new Map<string, Release>()
  for (const { application_id, app_version, severity, count, first_hour, last_hour } of sums) {
    if (app_version === '') continue
    const key = releaseKey({ application_id, app_version })
    const release = found.get(key) ?? {
      application_id,
      app_version,
      occurrences: 0,
      severities: noSeverities(),
      first_hour,
      last_hour,
    }
    release.occurrences += count
    release.severities[severity] += count
    release.first_hour = Math.min(release.first_hour, first_hour)
    release.last_hour = Math.max(release.last_hour, last_hour)
    found.set(key, release)
  }
  return [...found.values()]
}

export function releaseKey({ application_id, app_version }: Pick<Release, 'application_id' | 'app_version'>): string {
  return `${application_id} ${app_version}`
}

/**
 * The previous release of the same application for each release of an ordered list. Server releases are compared with
 * server releases only: clients report any version they like.
 */
export function previousReleases<One extends DatedRelease>(all: readonly One[]): Map<One, One> {
  const previous = new Map<One, One>()
  const last = new Map<string, One>()
  for (const release of all) {
    const line = `${release.application_id} ${release.is_client}`
    const before = last.get(line)
    if (before) previous.set(release, before)
    last.set(line, release)
  }
  return previous
}

/** Days from the first to the last occurrence; a release of a few hours is given a day, so that its rate says something. */
export function daysOf({ first_hour, last_hour }: Release): number {
  return Math.max(1, elapsedDays({ from: first_hour, to: last_hour + HOUR }))
}

export function noSeverities(): SeverityCounts {
  return Object.fromEntries(SEVERITIES.map((severity) => [severity, 0])) as SeverityCounts
}

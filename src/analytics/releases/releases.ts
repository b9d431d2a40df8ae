import type * as v from 'valibot'
import * as r from '../../model/result.js'
import { SEVERITIES } from '../../model/severity/severity.js'
import { HOUR } from '../../model/time.js'
import type { VersionSum } from '../sums/hour-sums.js'
import { elapsedDays } from '../sums/period.js'

export const SeverityCounts = r.named(
  'SeverityCounts',
  r.object({ critical: r.integer, high: r.integer, medium: r.integer, low: r.integer }),
)
export type SeverityCounts = v.InferOutput<typeof SeverityCounts>

/** Version of an application with occurrences within the last year. */
export interface Release {
  application_id: number
  app_version: string
  occurrences: number
  severities: SeverityCounts
  /** Hours of the first and last occurrence. */
  first_hour: number
  last_hour: number
}

/** Release with its first-seen time: exact if recorded, otherwise the start of the hour. */
export interface DatedRelease extends Release {
  first_seen_at: number
  /** Reported by clients only, never by the server. */
  is_client: boolean
}

export function sumByRelease(sums: readonly VersionSum[]): Release[] {
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
 * Maps each release of an ordered list to the previous release of the same application. Compares server releases with
 * server releases only, because clients can report any version.
 */
export function previousReleases<Item extends DatedRelease>(all: readonly Item[]): Map<Item, Item> {
  const previous = new Map<Item, Item>()
  const last = new Map<string, Item>()
  for (const release of all) {
    const sequenceKey = `${release.application_id} ${release.is_client}`
    const before = last.get(sequenceKey)
    if (before) previous.set(release, before)
    last.set(sequenceKey, release)
  }
  return previous
}

/**
 * Days from the first to the last occurrence. At least one, so that the rate of a short-lived release is meaningful.
 */
export function lifetimeDays({ first_hour, last_hour }: Release): number {
  return Math.max(1, elapsedDays({ from: first_hour, to: last_hour + HOUR }))
}

export function noSeverities(): SeverityCounts {
  return Object.fromEntries(SEVERITIES.map((severity) => [severity, 0])) as SeverityCounts
}

import { DAY, HOUR, MINUTE, startOfHour } from '../../model/time.js'
import { APPLICATIONS, type SampleApplication } from './applications.js'
import type { SampleKind } from './kind.js'
import { HOURS, WEEKDAYS } from './rhythm.js'
import { SeededRandom } from './seeded-random.js'

/** An occurrence to record: its kind, application and time. Its details derive from its seed. */
export interface PlannedOccurrence {
  application: SampleApplication
  kind: SampleKind
  occurred_at: number
  seed: number
  environment?: string
}

export const HISTORY_DAYS = 90

/** A storm within minutes, at an hour (UTC) of a past day. */
const BURSTS = [
  { key: 'search-down', days_ago: 23, hour: 17.6, minutes: 25, count: 340 },
  { key: 'pool-exhausted', days_ago: 8, hour: 11.1, minutes: 18, count: 160 },
  { key: 'rate-limited', days_ago: 2, hour: 9.4, minutes: 12, count: 70 },
]

/** Errors of the last minutes: one above its baseline in the current hour, and one that the newest release introduced. */
const SPIKES = [
  { key: 'order-state', minutes: 12, count: 24 },
  { key: 'order-not-saved', minutes: 19, count: 17 },
]

/** Errors that also occur in staging. The discount is resolved in production. */
const STAGING = [
  { key: 'discount-nan', hours_ago: [70, 52, 29, 6] },
  { key: 'deadlock', hours_ago: [46, 22] },
  { key: 'image-resize', hours_ago: [31, 9, 3] },
]

/** Pairs of errors: the effect soon follows its cause. */
const CASCADES = [
  { parent: 'pool-exhausted', child: 'reservation-lost', probability: 0.75 },
  { parent: 'payment-timeout', child: 'checkout-failed', probability: 0.7 },
]

/** All occurrences up to now, newest first. The same seed and time produce the same history. */
export function history(seed: number, now: number): PlannedOccurrence[] {
  const random = new SeededRandom(seed)
  const occurrences = allKinds().flatMap(([application, kind]) => [
    ...regularOccurrences(application, kind, now, random),
    ...burstOccurrences(application, kind, now, random),
    ...spikeOccurrences(application, kind, now, random),
  ])
  const children = occurrences.flatMap((occurrence) => followUp(occurrence, random) ?? [])
  return [...occurrences, ...children]
    .filter(({ occurred_at }) => occurred_at < now)
    .sort((a, b) => b.occurred_at - a.occurred_at)
}

/** Occurrences in staging: the oldest of each error, and the rest. */
export function stagingHistory(seed: number, now: number): { first: PlannedOccurrence[]; later: PlannedOccurrence[] } {
  const random = new SeededRandom(seed)
  const planned = allKinds().flatMap(([application, kind]) =>
    STAGING.filter(({ key }) => key === kind.key).map(({ hours_ago }) =>
      hours_ago.map((hours) => ({
        ...planOccurrence(application, kind, now - hours * HOUR, random),
        environment: 'staging',
      })),
    ),
  )
  return { first: planned.flatMap((all) => all.slice(0, 1)), later: planned.flatMap((all) => all.slice(1)) }
}

/** The next occurrence, and the occurrence that it causes, if any. */
export function nextOccurrences(
  now: number,
  random: SeededRandom,
  includes: (application_name: string) => boolean,
): PlannedOccurrence[] {
  const activeKinds = allKinds().filter(
    ([application, kind]) => includes(application.name) && activeSpans(application, kind, now).at(-1)?.to === now,
  )
  const [application, kind] = activeKinds[
    random.weightedIndex(activeKinds.map(([, { per_day }]) => per_day))
  ] as (typeof activeKinds)[number]
  const occurrence = planOccurrence(application, kind, now, random)
  return [occurrence, followUp(occurrence, random)].filter((candidate) => candidate !== null)
}

function allKinds(): [SampleApplication, SampleKind][] {
  return APPLICATIONS.flatMap((application) =>
    application.kinds.map((kind): [SampleApplication, SampleKind] => [application, kind]),
  )
}

function regularOccurrences(
  application: SampleApplication,
  kind: SampleKind,
  now: number,
  random: SeededRandom,
): PlannedOccurrence[] {
  return activeSpans(application, kind, now).flatMap((span) => occurrencesWithin(span, application, kind, random))
}

function occurrencesWithin(
  { from, to }: Span,
  application: SampleApplication,
  kind: SampleKind,
  random: SeededRandom,
): PlannedOccurrence[] {
  const rhythm = kind.rhythm ?? 'visitors'
  const occurrences: PlannedOccurrence[] = []
  for (let day = startOfUtcDay(from); day < to; day += DAY) {
    const weekday = WEEKDAYS[rhythm][new Date(day).getUTCDay()] ?? 1
    for (let count = random.poisson(kind.per_day * weekday); count > 0; count--) {
      const occurred_at = day + random.weightedIndex(HOURS[rhythm]) * HOUR + Math.floor(random.number() * HOUR)
      if (occurred_at >= from && occurred_at < to)
        occurrences.push(planOccurrence(application, kind, occurred_at, random))
    }
  }
  return occurrences
}

function burstOccurrences(
  application: SampleApplication,
  kind: SampleKind,
  now: number,
  random: SeededRandom,
): PlannedOccurrence[] {
  return BURSTS.filter(({ key }) => key === kind.key).flatMap(({ days_ago, hour, minutes, count }) => {
    const start = startOfUtcDay(now - days_ago * DAY) + hour * HOUR
    return Array.from({ length: count }, () =>
      planOccurrence(application, kind, Math.floor(start + random.number() * minutes * MINUTE), random),
    )
  })
}

function spikeOccurrences(
  application: SampleApplication,
  kind: SampleKind,
  now: number,
  random: SeededRandom,
): PlannedOccurrence[] {
  return SPIKES.filter(({ key }) => key === kind.key).flatMap(({ minutes, count }) => {
    const start = kind.per_day === 0 ? now - minutes * MINUTE : Math.max(startOfHour(now), now - minutes * MINUTE)
    return Array.from({ length: count }, () =>
      planOccurrence(application, kind, Math.floor(start + random.number() * (now - start)), random),
    )
  })
}

function followUp(
  { application, kind, occurred_at }: PlannedOccurrence,
  random: SeededRandom,
): PlannedOccurrence | null {
  const cascade = CASCADES.find(({ parent }) => parent === kind.key)
  const child = application.kinds.find(({ key }) => key === cascade?.child)
  if (!cascade || !child || !random.chance(cascade.probability)) return null
  return planOccurrence(application, child, occurred_at + random.integer(3000, 40_000), random)
}

function planOccurrence(
  application: SampleApplication,
  kind: SampleKind,
  occurred_at: number,
  random: SeededRandom,
): PlannedOccurrence {
  return { application, kind, occurred_at, seed: random.integer(0, 4_294_967_295) }
}

interface Span {
  from: number
  to: number
}

/** Returns true if the error occurs after the version that fixed it. */
export function isRegression({ application, kind, occurred_at }: PlannedOccurrence, now: number): boolean {
  const [, regression] = activeSpans(application, kind, now)
  return regression !== undefined && occurred_at >= regression.from
}

/**
 * Active periods of an error within the history: from the version that introduced it to its fix, and from its
 * regression.
 */
function activeSpans(
  { releases }: SampleApplication,
  { since, until, starts_days_ago = HISTORY_DAYS, regressedIn }: SampleKind,
  now: number,
): Span[] {
  const releaseAge = (version: string | undefined, fallback: number) =>
    releases.find((release) => release.version === version)?.days_ago ?? fallback
  const first = {
    from: now - Math.min(HISTORY_DAYS, releaseAge(since, starts_days_ago)) * DAY,
    to: now - releaseAge(until, 0) * DAY,
  }
  return regressedIn === undefined ? [first] : [first, { from: now - releaseAge(regressedIn, 0) * DAY, to: now }]
}

function startOfUtcDay(time: number): number {
  return time - (time % DAY)
}

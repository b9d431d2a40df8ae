import { DAY, HOUR, MINUTE, startOfHour } from '../../model/time.js'
import { APPLICATIONS, type SampleApplication } from './applications.js'
import { Draw } from './draw.js'
import type { Kind } from './kind.js'
import { HOURS, WEEKDAYS } from './rhythm.js'

/** A planned occurrence: its kind, application and time. Its details derive from its own seed. */
export interface Moment {
  application: SampleApplication
  kind: Kind
  occurred_at: number
  seed: number
}

export const HISTORY_DAYS = 90

/** A storm within minutes, at an hour (UTC) of a past day. */
const BURSTS = [
  { key: 'search-down', days_ago: 23, hour: 17.6, minutes: 25, count: 340 },
  { key: 'pool-exhausted', days_ago: 8, hour: 11.1, minutes: 18, count: 160 },
  { key: 'rate-limited', days_ago: 2, hour: 9.4, minutes: 12, count: 70 },
]

/** An error above its baseline: the number of occurrences in the current hour. */
const SPIKE = { key: 'order-state', minutes: 12, count: 24 }

/** An error that is soon followed by another. */
const CASCADES = [
  { parent: 'pool-exhausted', child: 'reservation-lost', probability: 0.75 },
  { parent: 'payment-timeout', child: 'checkout-failed', probability: 0.7 },
]

/** All occurrences up to now, newest first. The same seed and time produce the same history. */
export function history(seed: number, now: number): Moment[] {
  const draw = new Draw(seed)
  const moments = allKinds().flatMap(([application, kind]) => [
    ...everyday(application, kind, now, draw),
    ...burst(application, kind, now, draw),
    ...spike(application, kind, now, draw),
  ])
  const children = moments.flatMap((moment) => consequence(moment, draw) ?? [])
  return [...moments, ...children]
    .filter(({ occurred_at }) => occurred_at < now)
    .sort((a, b) => b.occurred_at - a.occurred_at)
}

/** The next occurrence, and those that follow from it. */
export function nextMoments(now: number, draw: Draw): Moment[] {
  const living = allKinds().filter(([application, kind]) => spans(application, kind, now).at(-1)?.to === now)
  const [application, kind] = living[draw.weighted(living.map(([, { per_day }]) => per_day))] as (typeof living)[number]
  const moment = createMoment(application, kind, now, draw)
  return [moment, consequence(moment, draw)].filter((candidate) => candidate !== null)
}

function allKinds(): [SampleApplication, Kind][] {
  return APPLICATIONS.flatMap((application) =>
    application.kinds.map((kind): [SampleApplication, Kind] => [application, kind]),
  )
}

function everyday(application: SampleApplication, kind: Kind, now: number, draw: Draw): Moment[] {
  return spans(application, kind, now).flatMap((span) => within(span, application, kind, draw))
}

function within({ from, to }: Span, application: SampleApplication, kind: Kind, draw: Draw): Moment[] {
  const rhythm = kind.rhythm ?? 'visitors'
  const moments: Moment[] = []
  for (let day = startOfUtcDay(from); day < to; day += DAY) {
    const weekday = WEEKDAYS[rhythm][new Date(day).getUTCDay()] ?? 1
    for (let count = draw.poisson(kind.per_day * weekday); count > 0; count--) {
      const occurred_at = day + draw.weighted(HOURS[rhythm]) * HOUR + Math.floor(draw.number() * HOUR)
      if (occurred_at >= from && occurred_at < to) moments.push(createMoment(application, kind, occurred_at, draw))
    }
  }
  return moments
}

function burst(application: SampleApplication, kind: Kind, now: number, draw: Draw): Moment[] {
  return BURSTS.filter(({ key }) => key === kind.key).flatMap(({ days_ago, hour, minutes, count }) => {
    const start = startOfUtcDay(now - days_ago * DAY) + hour * HOUR
    return Array.from({ length: count }, () =>
      createMoment(application, kind, Math.floor(start + draw.number() * minutes * MINUTE), draw),
    )
  })
}

function spike(application: SampleApplication, kind: Kind, now: number, draw: Draw): Moment[] {
  if (kind.key !== SPIKE.key) return []
  const start = Math.max(startOfHour(now), now - SPIKE.minutes * MINUTE)
  return Array.from({ length: SPIKE.count }, () =>
    createMoment(application, kind, Math.floor(start + draw.number() * (now - start)), draw),
  )
}

function consequence({ application, kind, occurred_at }: Moment, draw: Draw): Moment | null {
  const cascade = CASCADES.find(({ parent }) => parent === kind.key)
  const child = application.kinds.find(({ key }) => key === cascade?.child)
  if (!cascade || !child || !draw.chance(cascade.probability)) return null
  return createMoment(application, child, occurred_at + draw.integer(3000, 40_000), draw)
}

function createMoment(application: SampleApplication, kind: Kind, occurred_at: number, draw: Draw): Moment {
  return { application, kind, occurred_at, seed: draw.integer(0, 4_294_967_295) }
}

interface Span {
  from: number
  to: number
}

/** Whether it occurs after the version that fixed the error. */
export function isReturn({ application, kind, occurred_at }: Moment, now: number): boolean {
  const [, again] = spans(application, kind, now)
  return again !== undefined && occurred_at >= again.from
}

/**
 * Active periods of an error within the history: from the version that introduced it to its fix, and from its
 * regression.
 */
function spans({ releases }: SampleApplication, { since, until, returns }: Kind, now: number): Span[] {
  const released = (version: string | undefined, otherwise: number) =>
    releases.find((release) => release.version === version)?.days_ago ?? otherwise
  const first = {
    from: now - Math.min(HISTORY_DAYS, released(since, HISTORY_DAYS)) * DAY,
    to: now - released(until, 0) * DAY,
  }
  return returns === undefined ? [first] : [first, { from: now - released(returns, 0) * DAY, to: now }]
}

function startOfUtcDay(time: number): number {
  return time - (time % DAY)
}

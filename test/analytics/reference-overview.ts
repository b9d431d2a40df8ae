import type { TrackerInstance } from '../../src/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

export interface TestOccurrence {
  type: number
  occurred_at: number
  platform: string
  app_version: string
  user_id: string | null
}

export interface TestAction {
  type: number
  name: 'resolve' | 'reopen' | 'assign' | 'snooze'
  at: number
}

/** Expected state of an error, derived without the tracker. */
interface ExpectedError {
  id: number
  error_type: string
  severity: (typeof SEVERITIES)[number]
  first_seen_at: number
  occurred_at: number
  resolved_at: number | null
  assigned: boolean
  snoozed: boolean
}

const severityOf = (type: number) => SEVERITIES[type % 4] ?? 'low'
const typeName = (type: number) => `Type${String.fromCharCode(65 + type)}`

/** Records the occurrences, runs the actions and returns the expected state of each error. */
export async function replay(
  tracker: TrackerInstance,
  clock: { now: number | null },
  {
    now,
    occurrences,
    actions,
  }: { now: number; occurrences: readonly TestOccurrence[]; actions: readonly TestAction[] },
): Promise<ExpectedError[]> {
  clock.now = now
  const known = new Map<number, ExpectedError>()
  await Promise.all(
    occurrences.map(({ type, user_id, ...occurrence }) =>
      tracker.Commands.LogError.call({
        ...occurrence,
        ...(user_id ? { user_id } : {}),
        error_type: typeName(type),
        message: 'm',
        severity: severityOf(type),
      }),
    ),
  )
  const applications = await tracker.Queries.Applications.call()
  const own = applications.find(({ name }) => name === tracker.config.application_name)
  for (const type of new Set(occurrences.map(({ type }) => type))) {
    const times = occurrences.filter((occurrence) => occurrence.type === type).map(({ occurred_at }) => occurred_at)
    const found = (
      await tracker.Queries.ErrorsList.call({ error_type: typeName(type), application_id: own?.id ?? 0 })
    )[0]
    known.set(type, {
      id: found?.id ?? 0,
      error_type: typeName(type),
      severity: severityOf(type),
      first_seen_at: Math.min(...times),
      occurred_at: Math.max(...times),
      resolved_at: null,
      assigned: false,
      snoozed: false,
    })
  }
  for (const { type, name, ...chosen } of actions) {
    const error = known.get(type)
    if (!error) continue
    // Actions need an existing error.
    const at = Math.max(chosen.at, error.first_seen_at)
    clock.now = at
    await runAction[name](tracker, error, at)
    if (name === 'snooze') error.snoozed = at + 24 * HOUR > now
  }
  clock.now = now
  return [...known.values()]
}

const runAction: Record<
  TestAction['name'],
  (tracker: TrackerInstance, error: ExpectedError, at: number) => Promise<void>
> = {
  async resolve({ Commands }, error, at) {
    await Commands.ResolveError.call({ error_id: error.id })
    error.resolved_at ??= at
  },
  async reopen({ Commands }, error) {
    await Commands.UpdateStatus.call({ error_id: error.id, status: 'investigating' })
    error.resolved_at = null
  },
  async assign({ Commands }, error) {
    await Commands.AssignError.call({ error_id: error.id, assigned_to: 'ann' })
    error.assigned = true
  },
  async snooze({ Commands }, error) {
    await Commands.SnoozeError.call({ error_id: error.id, hours: 24 })
  },
}

/** Reference: calculates the overview by counting every occurrence. */
export function expectedOverview(
  records: readonly ExpectedError[],
  { now, time_zone, occurrences }: { now: number; time_zone: string; occurrences: readonly TestOccurrence[] },
) {
  const dateOf = datesIn(time_zone)
  const today = dateOf(now)
  const dates = [...Array(30).keys()].map((back) => isoDate(Date.parse(today) - (29 - back) * DAY))
  const startOf = (date: string) => firstInstant(date, dateOf)
  const on = (date: string) => occurrences.filter(({ occurred_at }) => dateOf(occurred_at) === date)
  // Daily figures are sums of hours. An hour belongs to the day in which it starts.
  const dayOf = (time: number) => dateOf(time - (time % HOUR))
  const inHoursOf = (date: string) => occurrences.filter(({ occurred_at }) => dayOf(occurred_at) === date)
  const open = records.filter(({ resolved_at }) => resolved_at === null)
  const awake = open.filter(({ snoozed }) => !snoozed)
  /** Start of the last N days: today and the N - 1 previous calendar days. */
  const startOfLast = (days: number) => startOf(isoDate(Date.parse(today) - (days - 1) * DAY))
  const since = (from: number) => occurrences.filter(({ occurred_at }) => occurred_at >= from).length
  const [week, month] = [startOfLast(7), startOfLast(30)]
  const monthBefore = { from: month - (now - month), to: month }
  const hasPrevious = records.some(({ first_seen_at }) => first_seen_at <= monthBefore.from)
  const newErrors = awake.filter(({ first_seen_at }) => first_seen_at >= now - DAY)
  const unattended = awake.filter(({ severity, assigned }) => !assigned && ['critical', 'high'].includes(severity))
  return {
    total_errors: records.length,
    unresolved_count: open.length,
    occurrences_today: on(today).length,
    occurrences_last_7_days: since(week),
    occurrences_last_30_days: since(month),
    total_occurrences: occurrences.length,
    // Whole hours, like the bars.
    occurrences: {
      count: occurrences.filter(({ occurred_at }) => dates.includes(dayOf(occurred_at))).length,
      before: hasPrevious
        ? occurrences.filter(({ occurred_at }) => {
            const hour = occurred_at - (occurred_at % HOUR)
            return hour >= monthBefore.from && hour < monthBefore.to
          }).length
        : null,
    },
    bars: dates.map((date) => ({
      starts_at: new Date(startOf(date)).toISOString(),
      total: inHoursOf(date).length,
      ...Object.fromEntries(
        SEVERITIES.map((severity) => [
          severity,
          inHoursOf(date).filter(({ type }) => severityOf(type) === severity).length,
        ]),
      ),
    })),
    unresolved: {
      count: open.length,
      snoozed: open.filter(({ snoozed }) => snoozed).length,
      opened: records.filter(({ first_seen_at }) => first_seen_at >= month).length,
      closed: records.filter(({ resolved_at }) => (resolved_at ?? 0) >= month).length,
    },
    affected_users: { ...users(occurrences, monthBefore), ...(hasPrevious ? {} : { before: null }) },
    time_to_resolve: {
      ...timesWithin(records, month, now + 1),
      before: hasPrevious ? timesWithin(records, monthBefore.from, month) : null,
    },
    new_errors: { count: newErrors.length },
    // Errors reopened by a user are not regressions.
    reopened: { count: 0 },
    unattended: {
      count: unattended.length,
      errors: [...unattended]
        .sort((a, b) => a.severity.localeCompare(b.severity) || b.occurred_at - a.occurred_at || b.id - a.id)
        .slice(0, 5)
        .map(({ id }) => ({ id })),
    },
    spiking: null,
    top_by_impact: impact(open, occurrences, month),
    platforms: totals(occurrences, 'platform', dates, dayOf),
    releases: totals(occurrences, 'app_version', dates, dayOf),
  }
}

function users(occurrences: readonly TestOccurrence[], { from, to }: { from: number; to: number }) {
  const pairs = new Map<string, { user_id: string; first: number; last: number }>()
  for (const { user_id, type, occurred_at } of occurrences) {
    if (user_id === null) continue
    const key = `${type} ${user_id}`
    const known = pairs.get(key) ?? { user_id, first: occurred_at, last: occurred_at }
    pairs.set(key, { user_id, first: Math.min(known.first, occurred_at), last: Math.max(known.last, occurred_at) })
  }
  const distinct = (fits: (pair: { first: number; last: number }) => boolean) =>
    new Set([...pairs.values()].filter(fits).map(({ user_id }) => user_id)).size
  return {
    count: distinct(({ last }) => last >= to),
    before: distinct(({ first, last }) => first < to && last >= from),
  }
}

function timesWithin(records: readonly ExpectedError[], from: number, to: number) {
  const took = records
    .flatMap(({ resolved_at, first_seen_at }) =>
      resolved_at !== null && resolved_at >= from && resolved_at < to ? [resolved_at - first_seen_at] : [],
    )
    .sort((a, b) => a - b)
  if (took.length === 0) return { count: 0, median_ms: null, mean_ms: null }
  const middle = [took[Math.floor((took.length - 1) / 2)] ?? 0, took[Math.ceil((took.length - 1) / 2)] ?? 0]
  return {
    count: took.length,
    median_ms: Math.round(((middle[0] ?? 0) + (middle[1] ?? 0)) / 2),
    mean_ms: Math.round(took.reduce((sum, duration) => sum + duration, 0) / took.length),
  }
}

function impact(open: readonly ExpectedError[], occurrences: readonly TestOccurrence[], since: number) {
  const rows = open.map((error) => {
    const own = occurrences.filter(({ type }) => typeName(type) === error.error_type)
    return {
      id: error.id,
      occurrences: own.filter(({ occurred_at }) => occurred_at >= Math.ceil(since / HOUR) * HOUR).length,
      users: new Set(own.filter(({ occurred_at }) => occurred_at >= since).flatMap(({ user_id }) => user_id ?? []))
        .size,
    }
  })
  const [most, mostUsers] = [
    Math.max(1, ...rows.map(({ occurrences }) => occurrences)),
    Math.max(1, ...rows.map(({ users }) => users)),
  ]
  return rows
    .filter(({ occurrences }) => occurrences > 0)
    .sort(
      (a, b) =>
        b.occurrences / most + b.users / mostUsers - (a.occurrences / most + a.users / mostUsers) || a.id - b.id,
    )
    .slice(0, 8)
}

function totals(
  occurrences: readonly TestOccurrence[],
  by: 'platform' | 'app_version',
  dates: readonly string[],
  dayOf: (time: number) => string,
) {
  const within = occurrences.filter(({ occurred_at }) => dates.includes(dayOf(occurred_at)))
  return [...new Set(within.map((occurrence) => occurrence[by]))]
    .map((name) => ({ name, total: within.filter((occurrence) => occurrence[by] === name).length }))
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Finds the first instant of a date by checking every quarter of an hour. */
function firstInstant(date: string, dateOf: (time: number) => string): number {
  for (let time = Date.parse(date) - 15 * HOUR; ; time += 15 * 60_000) if (dateOf(time) === date) return time
}

function datesIn(timeZone: string): (time: number) => string {
  // This locale formats dates like ISO 8601.
  const { format } = new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const known = new Map<number, string>()
  return (time) => {
    const date = known.get(time) ?? format(time)
    known.set(time, date)
    return date
  }
}

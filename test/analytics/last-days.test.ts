import { expect, test } from 'vitest'
import type { Timeframe } from '../../src/model/time.js'
import { describeEachDatabase } from '../support/databases.js'
import { startHost } from '../support/host.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Daylight saving time started in Europe two days earlier and in America 23 days earlier. */
const NOW = Date.parse('2026-03-31T10:20:00Z')

interface Logged {
  error_type: string
  occurred_at: number
}

/** Occurrences around the midnights of all zones, and around exactly 7, 30 and 90 times 24 hours ago. */
function edgeOccurrences(): Logged[] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVW'
  const edges = [0, 6, 7, 29, 30, 89, 90].flatMap((days, i) =>
    [0, 3, 5, 11, 13, 23].map((hours, j) => ({
      error_type: `Kind${letters.charAt((i * 5 + j) % letters.length)}Error`,
      occurred_at: NOW - days * DAY - hours * HOUR - (j % 2 === 0 ? 0 : 1),
    })),
  )
  return edges.filter(({ occurred_at }) => occurred_at <= NOW)
}

/** Reference: counts by local dates, for today and the previous days. */
function referenceCounts(all: readonly Logged[], days: number, time_zone: string) {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone })
  const first = new Date(Date.parse(date.format(NOW)) - (days - 1) * DAY).toISOString().slice(0, 10)
  const within = all.filter(({ occurred_at }) => date.format(occurred_at) >= first)
  return { occurrences: within.length, errors: new Set(within.map(({ error_type }) => error_type)).size }
}

const sum = <Row>(rows: readonly Row[], count: (row: Row) => number) =>
  rows.reduce((total, row) => total + count(row), 0)

describeEachDatabase('the last days', (database) => {
  test.each(['UTC', 'Europe/Berlin', 'America/New_York'])(
    'the last days include today on every page and in every operation in %s',
    { timeout: 120_000 },
    async (time_zone) => {
      const host = await startHost(await database.fresh(), { time_zone }, { now: () => NOW })
      const { Commands, Queries, Services } = host.tracker
      const all = edgeOccurrences()
      await Promise.all(
        all.map((occurrence) =>
          Commands.LogError.call({
            message: 'm',
            platform: 'Web',
            app_version: '1.0.0',
            user_id: 'ann',
            ...occurrence,
          }),
        ),
      )
      await host.tracker.flush()
      for (const days of [7, 30, 90]) {
        const expected = referenceCounts(all, days, time_zone)
        const timeframe = `last_${days}_days` as Timeframe
        expect((await Queries.ErrorsList.page({ timeframe })).pagination.total_count).toBe(expected.errors)
        expect(await host.json(`/errors?timeframe=${timeframe}`)).toMatchObject({
          pagination: { total_count: expected.errors },
        })
        const rates = await new Queries.PlatformComparison({ days }).errorRateByPlatform()
        expect(sum(rates, (rate) => rate.occurrences)).toBe(expected.occurrences)
        const versions = await new Queries.ErrorCorrelation({ days }).errorsByVersion()
        expect(sum(versions, (version) => version.occurrences)).toBe(expected.occurrences)
        expect((await Queries.ErrorAnalytics.call({ days })).total_occurrences).toBe(expected.occurrences)
        expect(await host.json(`/errors/analytics?days=${days}`)).toMatchObject({
          total_occurrences: expected.occurrences,
        })
        const patterns = await Promise.all(
          [...new Set(all.map(({ error_type }) => error_type))].map((error_type) =>
            Services.PatternDetector.analyzeCyclicalPattern({ error_type, days }),
          ),
        )
        expect(sum(patterns, ({ total }) => total)).toBe(expected.occurrences)
      }
      const [week, month] = [referenceCounts(all, 7, time_zone), referenceCounts(all, 30, time_zone)]
      const stats = {
        errors_last_7_days: week.errors,
        errors_last_30_days: month.errors,
        occurrences_last_7_days: week.occurrences,
        occurrences_last_30_days: month.occurrences,
      }
      expect(await Queries.DashboardStats.call()).toMatchObject(stats)
      const overview = await Queries.Overview.call()
      expect(overview.stats).toMatchObject(stats)
      expect(sum(overview.bars, ({ total }) => total)).toBe(month.occurrences)
      expect(sum(overview.platforms, ({ total }) => total)).toBe(month.occurrences)
      const overviewOfWeek = await Queries.Overview.call({ range: '7d' })
      expect(sum(overviewOfWeek.bars, ({ total }) => total)).toBe(week.occurrences)
      expect(sum(overviewOfWeek.platforms, ({ total }) => total)).toBe(week.occurrences)
      expect(overviewOfWeek.unresolved.opened).toBe(
        (await Queries.ErrorsList.page({ timeframe: 'last_7_days' })).errors.filter(
          ({ first_seen_at }) =>
            referenceCounts([{ error_type: '', occurred_at: Date.parse(first_seen_at) }], 7, time_zone).errors,
        ).length,
      )
      await host.close()
    },
  )
})

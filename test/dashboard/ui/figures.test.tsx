import { expect, test } from 'vitest'
import type { Overview } from '../../../src/analytics/overview/overview.js'
import type { Visit } from '../../../src/dashboard/define.js'
import { OverviewFigures } from '../../../src/dashboard/pages/overview/overview-figures.js'
import { Figure } from '../../../src/dashboard/ui/figures.js'

const render = (now: number, before: number | null, samples = before ?? 0) =>
  String(
    <Figure
      label="Occurrences"
      value={String(now)}
      note=""
      change={{ now, before, period: 'in the previous period', samples, format: String }}
    />,
  ).replaceAll(/<[^>]+>/g, '')

test('shows a large change as a factor, and hides an unknown change', () => {
  expect(render(150, 100)).toContain('up by50%')
  expect(render(900, 100)).toContain('up by800%')
  expect(render(35_399, 82)).toContain('up by432×')
  expect(render(10, 100)).toContain('down by90%')
  expect(render(10, 3)).toContain('up by7')
  expect(render(10, null)).not.toContain('up by')
})

test('shows no change for a median of fewer than 20 samples', () => {
  const figures = (count: number) => {
    const period = { median_ms: 3 * 86_400_000, mean_ms: 0 }
    const data = {
      stats: { total_errors: 1 },
      period: { range: '30d' },
      occurrences: { count: 1, before: null },
      unresolved: { count: 1, snoozed: 0, opened: 0, closed: 0 },
      affected_users: { count: 0, before: null },
      time_to_resolve: { count, ...period, before: { ...period, count, median_ms: 86_400_000 } },
    } as unknown as Overview
    const visit = { base: '', query: new URLSearchParams(), application_id: null } as unknown as Visit
    return String(<OverviewFigures data={data} visit={visit} />).replaceAll(/<[^>]+>/g, ' ')
  }
  expect(figures(19)).not.toContain('up by')
  expect(figures(20)).toMatch(/up by +200%/)
})

test('splits unresolved errors like the tabs of the list if some are snoozed', () => {
  const data = {
    stats: { total_errors: 66 },
    period: { range: '30d' },
    occurrences: { count: 1, before: null },
    unresolved: { count: 54, snoozed: 3, opened: 20, closed: 9 },
    affected_users: { count: 1, before: null },
    time_to_resolve: { count: 0, median_ms: null, mean_ms: null, before: null },
  } as unknown as Overview
  const visit = { base: '', query: new URLSearchParams(), application_id: null } as unknown as Visit
  expect(String(<OverviewFigures data={data} visit={visit} />)).toContain(
    '<small>51 open, 3 snoozed · 20 opened, 9 closed</small>',
  )
})

test.each([
  [19, 1000, ' down by 981 '],
  [1000, 19, ' up by 981 '],
  [20, 1000, ' down by 98% '],
])('compares %i occurrences and users with %i', (count, before, change) => {
  const data = {
    stats: { total_errors: 1 },
    period: { range: '30d' },
    occurrences: { count, before },
    unresolved: { count: 1, snoozed: 0, opened: 1, closed: 0 },
    affected_users: { count, before },
    time_to_resolve: { count: 0, median_ms: null, mean_ms: null, before: null },
  } as unknown as Overview
  const visit = { base: '', query: new URLSearchParams(), application_id: null } as unknown as Visit
  const text = String(<OverviewFigures data={data} visit={visit} />)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/ +/g, ' ')
  expect(text.split(change)).toHaveLength(3)
})

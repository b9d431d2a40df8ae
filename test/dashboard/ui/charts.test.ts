import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Visit } from '../../../src/dashboard/define.js'
import { releaseLines, spanAxis, spanBars } from '../../../src/dashboard/ui/charts/chart-range.js'
import { axisTicks, BarChart, Sparkline } from '../../../src/dashboard/ui/charts/charts.js'
import { timeAxis } from '../../../src/dashboard/ui/charts/time-axis.js'
import { MIN_PERCENT_SAMPLES, samplePercent, sharePercent } from '../../../src/dashboard/ui/units.js'
import { type ChartRange, chartSpan } from '../../../src/model/chart-span.js'

describe('axisTicks', () => {
  test.each([
    [1, [1, 0]],
    [5, [5, 4, 3, 2, 1, 0]],
    [26, [30, 20, 10, 0]],
    [230, [250, 200, 150, 100, 50, 0]],
    [750, [750, 500, 250, 0]],
    [12_345, [12_500, 10_000, 7500, 5000, 2500, 0]],
  ])('the axis for %i has round ticks', (max, ticks) => {
    expect(axisTicks(max)).toEqual(ticks)
  })

  test('ticks are whole numbers and cover every maximum', () => {
    for (let max = 1; max < 3000; max++) {
      const ticks = axisTicks(max)
      expect([max, ticks.every(Number.isInteger)]).toEqual([max, true])
      expect(ticks[0]).toBeGreaterThanOrEqual(max)
      expect(ticks[0]).toBeLessThanOrEqual(max * 2)
    }
  })
})

describe('BarChart', () => {
  const now = Date.parse('2026-05-20T12:33:00Z')
  const visit = {
    base: '/error_dashboard',
    path: '/overview',
    query: new URLSearchParams('range=7d'),
    application_id: null,
    applications: [
      { id: 1, name: 'shop' },
      { id: 2, name: 'worker' },
    ],
    now,
    time_zone: 'Europe/Berlin',
  } as unknown as Visit
  const series = [
    { key: 'high', label: 'high', tone: 'severity-high' },
    { key: 'low', label: 'low', tone: 'severity-low' },
  ]
  const span = chartSpan({ range: '30d' }, now, 'Europe/Berlin')
  const values = span.starts.map(() => ({ high: 1, low: 2 }))
  const render = (markers = releaseLines([], { span, visit })) =>
    String(
      BarChart({
        ...{ title: 'Occurrences', unit: 'occurrences', series, markers },
        bars: spanBars({ span, visit }, values),
        axis: spanAxis(span, visit),
      }),
    )

  test('hatches only the current period, and names it in the tooltip and the legend', () => {
    const html = render()
    expect(html.match(/class="hatch"/g)).toHaveLength(2)
    expect(html).toContain('<title>Wed, 20 May 2026, in progress\n3 occurrences\n1 high\n2 low</title>')
    expect(html).toContain('<title>Tue, 19 May 2026\n3 occurrences\n1 high\n2 low</title>')
    expect(html).toContain('</svg>in progress</li>')
  })

  test('each bar links to its own time, and keeps the other parameters', () => {
    const [from, to] = ['2026-05-18T22:00Z', '2026-05-19T22:00Z'].map((time) => Date.parse(time) / 1000)
    expect(render()).toContain(
      `<a href="/error_dashboard/overview?range=7d&amp;from=${from}&amp;to=${to}" aria-label="Tue, 19 May 2026: 3 occurrences (1 high, 2 low)"`,
    )
  })

  test('marks releases at their time, with labels that do not overlap', () => {
    const at = (app_version: string, first_seen_at: string) => ({ application_id: 2, app_version, first_seen_at })
    const html = render(
      releaseLines(
        [
          at('1.0', '2026-05-05T10:00:00.000Z'),
          at('1.1', '2026-05-06T10:00:00.000Z'),
          at('2.0-<beta>.with.long.name', '2026-05-19T10:00:00.000Z'),
        ],
        { span, visit },
      ),
    )
    const lines = [...html.matchAll(/class="marker" x1="([\d.]+)%"/g)]
    expect(lines.map(([, x]) => x)).toEqual(['48.33', '51.67', '95'])
    // The lines are behind the bars.
    expect(html.indexOf('class="marker"')).toBeLessThan(html.indexOf('data-chart'))
    expect([...html.matchAll(/<text [^>]*y="-4"[^>]*>([^<]*)</g)].map(([, label]) => label)).toEqual([
      '1.1 worker',
      '2.0-&lt;beta&gt;.with.long.…',
    ])
    expect(html).toContain(
      'app_version=1.0&amp;release_application_id=2" aria-label="Release 1.0 of worker, first seen ',
    )
  })

  test('draws more than five releases as ticks without labels, each with its name', () => {
    const releases = (count: number) =>
      releaseLines(
        Array.from({ length: count }, (_, i) => ({
          ...{ application_id: 2, app_version: `1.${i}` },
          first_seen_at: `2026-05-0${i + 1}T10:00:00.000Z`,
        })),
        { span, visit },
      )
    expect(render(releases(5))).not.toContain('marker-tick')
    const html = render(releases(6))
    expect(html.match(/<line class="marker-tick"/g)).toHaveLength(6)
    expect(html).toMatch(/<path class="marker-tick"[^>]*><\/path><\/svg>release<\/li>/)
    expect(html).not.toContain('y="-4"')
    expect(html).toContain('<title>Release 1.5 of worker, first seen ')
  })

  test('a narrow chart omits the label of a marker that would run into the next label from the other side', () => {
    const at = (app_version: string, day: string) => ({
      ...{ application_id: 2, app_version },
      first_seen_at: `2026-${day}T10:00:00.000Z`,
    })
    const html = render(
      releaseLines([at('8.5.0', '05-05'), at('1.21.0', '05-09')], { span, visit, isOfOneApplication: true }),
    )
    expect([...html.matchAll(/<text [^>]*y="-4" text-anchor="\w+">([^<]*)</g)].map(([, label]) => label)).toEqual([
      '1.21.0',
    ])
    expect(html).toContain('class="wide-only">8.5.0<')
  })

  test('labels that fit only on a wide page are marked', () => {
    const at = (app_version: string, day: string) => ({
      ...{ application_id: 2, app_version },
      first_seen_at: `2026-${day}T10:00:00.000Z`,
    })
    const html = render(
      releaseLines([at('5.12.0', '05-06'), at('8.5.0', '05-09'), at('2.0.0', '05-18')], {
        ...{ span, visit },
        isOfOneApplication: true,
      }),
    )
    expect([...html.matchAll(/class="wide-only">([^<]*)</g)].map(([, label]) => label)).toEqual(['5.12.0'])
    expect([...html.matchAll(/<text x[^>]*y="-4"[^>]*>([^<]*)</g)].map(([, label]) => label)).toEqual([
      '5.12.0',
      '8.5.0',
      '2.0.0',
    ])
  })
})

describe('Sparkline', () => {
  test('hatches the current day like the other charts, unless it is empty', () => {
    const stripes = (values: readonly number[]) =>
      /<svg x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/.exec(
        String(Sparkline({ values, label: 'Occurrences' })),
      )
    expect(stripes([4, 2, 8, 4])?.slice(1)).toEqual(['75', '12', '12'])
    expect(stripes([4, 2, 8, 0])?.slice(3)).toEqual(['0'])
  })

  test('draws empty days in another color', () => {
    const paths = String(Sparkline({ values: [4, 0, 2], label: 'Occurrences' })).matchAll(
      /<path (?:class="(\w+)" )?d="(M[\w. -]*v[\d.-]*)"/g,
    )
    expect([...paths].map(([, name, d]) => [name, d])).toEqual([
      [undefined, 'M10 24v-24M76.67 24v-12'],
      ['none', 'M43.33 24v-1'],
    ])
  })

  test('draws bars on a common square-root scale, so that rows are comparable', () => {
    const heights = (commonMax?: number) =>
      [...String(Sparkline({ values: [1, 4], label: 'Occurrences', commonMax })).matchAll(/M[\d.]+ 24v-([\d.]+)/g)].map(
        ([, height]) => height,
      )
    expect(heights()).toEqual(['6', '24'])
    expect(heights(16)).toEqual(['6', '12'])
    expect(heights(6400)).toEqual(['3', '3'])
  })
})

describe('timeAxis', () => {
  const now = Date.parse('2026-05-20T12:33:00Z')
  const labels = (range: ChartRange, time_zone: string) => {
    const { starts, from } = chartSpan({ range }, now, time_zone)
    const { ticks } = timeAxis(starts, { step: (starts[1] ?? 0) - from, time_zone })
    return ticks.map(({ index, label, isMinor }) => `${index} ${label}${isMinor ? ' minor' : ''}`)
  }

  test('labels are at round times, each at its bar', () => {
    expect(labels('1h', 'Europe/Berlin')).toEqual([
      '1 13:40',
      '3 13:50 minor',
      '5 14:00',
      '7 14:10 minor',
      '9 14:20',
      '11 14:30 minor',
    ])
    expect(labels('24h', 'Europe/Berlin')).toEqual([
      '0 15:00 minor',
      '3 18:00',
      '6 21:00 minor',
      '9 00:00',
      '12 03:00 minor',
      '15 06:00',
      '18 09:00 minor',
      '21 12:00',
    ])
    expect(labels('7d', 'UTC').map((label) => label.replace(' minor', ''))).toEqual([
      '0 14 May',
      '4 15 May',
      '8 16 May',
      '12 17 May',
      '16 18 May',
      '20 19 May',
      '24 20 May',
    ])
  })

  test('labels of months are Mondays', () => {
    expect(labels('30d', 'America/New_York')).toEqual(['6 27 Apr', '13 4 May', '20 11 May', '27 18 May'])
    expect(labels('90d', 'UTC')).toHaveLength(6)
  })

  test('labels stay at round times when the clocks change', () => {
    const change = Date.parse('2026-10-25T20:00:00Z')
    const { starts } = chartSpan({ range: '24h' }, change, 'Europe/Berlin')
    const { ticks } = timeAxis(starts, { step: 3_600_000, time_zone: 'Europe/Berlin' })
    expect(ticks.map(({ label }) => label)).toEqual([
      '00:00',
      '03:00',
      '06:00',
      '09:00',
      '12:00',
      '15:00',
      '18:00',
      '21:00',
    ])
  })

  test('labels of a zone with half hours are at the bars of round times', () => {
    expect(labels('24h', 'Asia/Kolkata').map((label) => label.replace(/ minor|^\d+ /g, ''))).toEqual([
      '18:30',
      '21:30',
      '00:30',
      '03:30',
      '06:30',
      '09:30',
      '12:30',
      '15:30',
    ])
  })
})

describe('percentages', () => {
  test('percentages exist only for at least 20 samples', () => {
    expect(MIN_PERCENT_SAMPLES).toBe(20)
    expect([samplePercent(0.5, 19), samplePercent(0.5, 20)]).toEqual([undefined, '50%'])
    expect([sharePercent(1, 1 / 19), sharePercent(1, 1 / 20), sharePercent(0, 0)]).toEqual([undefined, '5%', undefined])
  })
})

describe('colors of charts', () => {
  const tokens = readFileSync(new URL('../../../src/dashboard/assets/css/tokens.css', import.meta.url), 'utf8')
  const colors = Object.fromEntries(
    [...tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
      name,
      [light ?? '', dark ?? ''] as const,
    ]),
  )
  const fills = Object.keys(colors).filter((name) => /-fill$|^bar$|^bar-(?:second|third)$/.test(name))

  test('every fill has a contrast of 3:1 on every background, in both schemes', () => {
    expect(fills.length).toBeGreaterThan(6)
    const weak = fills.flatMap((fill) =>
      ['surface', 'raised', 'selected'].flatMap((background) =>
        ([0, 1] as const)
          .map((scheme) => contrast(colors[fill]?.[scheme] ?? '', colors[background]?.[scheme] ?? ''))
          .filter((ratio) => ratio < 3)
          .map((ratio) => `${fill} on ${background}: ${ratio.toFixed(2)}`),
      ),
    )
    expect(weak).toEqual([])
  })
})

/** Contrast ratio of WCAG 2.2. */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((i) => Number.parseInt(color.slice(i, i + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Overview } from '../../../../src/analytics/overview/overview.js'
import { describeOneDatabase } from '../../../support/databases.js'
import { type Host, serveTracker, startHost } from '../../../support/host.js'

const NOW = Date.parse('2026-03-10T14:30:00Z')
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MARKUP = '<img src=x onerror=alert(1)>'

describeOneDatabase('related errors and baselines', (database) => {
  let host: Host
  let clock = NOW
  const ids: Record<string, number> = {}
  const pages: Record<string, string> = {}

  const log = async (error_type: string, occurred_at: number, more: object = {}) => {
    const logged = await host.tracker.Commands.LogError.call({ error_type, message: 'm', occurred_at, ...more })
    if (logged?.id) ids[error_type] = logged.id
  }
  const page = async (path: string) => {
    pages[path] ??= await (await host.get(path)).text()
    return pages[path] ?? ''
  }
  const detail = (error_type: string) => page(`/errors/${ids[error_type]}`)

  beforeAll(async () => {
    const url = await database.fresh()
    host = await startHost(url, {}, { now: () => clock })
    const waiting: Promise<void>[] = []
    const report = { platform: 'Web', backtrace: ['at send (src/report.ts:7:1)'] }
    // A hostile error follows four of five PoolExhausted errors after 12 seconds.
    for (let i = 0; i < 5; i++) {
      const at = NOW - 10 * HOUR + i * 20 * MINUTE
      waiting.push(log('PoolExhausted', at))
      if (i < 4) waiting.push(log(MARKUP, at + 12 * SECOND, { message: MARKUP }))
    }
    // Office hours of the last two weeks, and a storm this hour that is far above the baseline.
    for (let day = 1; day <= 14; day++) {
      for (const hour of [9, 11, 14]) waiting.push(log('ReportFailed', atHour(day, hour), report))
    }
    for (let i = 0; i < 20; i++) {
      waiting.push(log('ReportFailed', NOW - 20 * MINUTE + i * 10 * SECOND, report))
    }
    for (const [i, name] of [...'ABCDEFGHIJ'].entries()) {
      const backtrace = i < 2 ? ['at charge (src/pay.ts:3:1)', 'at order (src/order.ts:9:1)'] : []
      const message = i < 2 ? 'the card was refused by the bank' : `nothing like ${name.repeat(5)}`
      waiting.push(log(`Kind${name}`, NOW - 40 * DAY, { message, backtrace }))
    }
    for (let i = 0; i < 6; i++) waiting.push(log(i % 2 ? 'OutageA' : 'OutageB', NOW - 40 * DAY + i * SECOND))
    await Promise.all(waiting)
    clock = NOW - 5 * HOUR
    await log('BackError', clock, { app_version: '1.2.0' })
    await host.tracker.Commands.ResolveError.call({ error_id: ids.BackError ?? 0, resolved_by: 'ann' })
    clock = NOW - 4 * HOUR
    await log('BackError', clock, { app_version: '1.3.0' })
    clock = NOW
    const other = await serveTracker({ database: url, application_name: 'other' }, { now: () => clock })
    await other.tracker.Commands.LogError.call({ error_type: 'OtherError', message: 'm' })
    await other.close()
    await host.tracker.Services.CascadeDetector.call({ lookback_hours: 24 })
    await host.tracker.Services.BaselineCalculator.calculateAllBaselines()
  })

  afterAll(() => host.close())

  test('the error page lists preceding and following errors with evidence', async () => {
    expect(await detail('PoolExhausted')).toMatch(
      /Leads to.*&lt;img.*followed 4 of 5 times within 60 s, 12 s later on average/s,
    )
    expect(await detail('PoolExhausted')).not.toContain('<h3>Follows')
    expect(await detail(MARKUP)).toMatch(/<h3>Follows<.*This error followed 4 of 5 times within 60 s/s)
  })

  test('the error page lists co-occurring errors', async () => {
    expect(await detail('PoolExhausted')).toMatch(/Co-occurring errors.*4 of 5 occurrences within 5 min/s)
    // All occurrences belong to one moment in which everything failed.
    expect(await detail('OutageA')).not.toContain('Co-occurring errors')
  })

  test('the error page lists similar errors with percentages', async () => {
    expect(await detail('KindA')).toMatch(/Similar errors.*>KindB<.*100% similar/s)
    expect(await detail('KindC')).not.toContain('Similar errors')
  })

  test('the error page shows peak hours with a chart and a data table', async () => {
    const html = await detail('ReportFailed')
    expect(html).toMatch(/Mostly during business hours, peaking at 9:00, 11:00 and 14:00\./)
    expect(html).toMatch(/aria-label="62 occurrences by hour, 24 bars"/)
    expect(html).toMatch(/<th scope="row">14:00 to 15:00<\/th><td class="number">34</)
  })

  test('the error page lists bursts', async () => {
    expect(await detail('ReportFailed')).toMatch(/Bursts.*20 occurrences in 3 min 10 s, 6.3 per minute/s)
  })

  test('the error page omits sections without data', async () => {
    const html = await detail('KindC')
    for (const title of ['Cascades', 'Co-occurring errors', 'Similar errors', 'Baseline', 'Pattern', 'Bursts']) {
      expect(html).not.toContain(`<h2>${title}</h2>`)
    }
    expect(await related('KindC')).toEqual({})
  })

  test('the JSON contains the same sections by name', async () => {
    expect(await related('PoolExhausted')).toMatchObject({
      cascades: { leads_to: [{ followed_count: 4, parent_count: 5 }], caused_by: [] },
      co_occurring_errors: [{ together_count: 4, checked_count: 5 }],
    })
    expect(await related('KindA')).toMatchObject({ similar_errors: [{ similarity: 1 }] })
    expect(await related('ReportFailed')).toMatchObject({
      occurrence_pattern: { pattern_type: 'business_hours', peak_hours: [9, 11, 14] },
      bursts: [{ occurrence_count: 20 }],
    })
  })

  test('another application does not see the data', async () => {
    const applications = await host.tracker.Queries.Applications.call()
    const application_id = applications.find(({ name }) => name === 'other')?.id
    const analytics = await host.json(`/errors/analytics?application_id=${application_id}`)
    expect(analytics).toMatchObject({ total_occurrences: 1, cascades: [], bursts: { bursts: [] } })
    expect(await host.json(`/overview?application_id=${application_id}`)).toMatchObject({ spiking: [] })
  })

  test('shows a regression in the list, on the error page, in the activity and on the overview', async () => {
    expect(await page('/errors?error_type=BackError')).toMatch(/>BackError<.*<bdi>regression in 1\.3\.0<\/bdi>/s)
    expect(await page('/errors?error_type=PoolExhausted')).not.toContain('regression in')
    expect(await detail('BackError')).toMatch(/error-meta.*<bdi>regression in 1\.3\.0<\/bdi>/s)
    expect(await detail('BackError')).toMatch(/Faultboard.*marked this as a regression.*Regressed in 1\.3\.0/s)
    expect(await page('/overview')).toMatch(/regressed in 1\.3\.0.*BackError/s)
  })

  test('the overview lists spikes with links', async () => {
    const html = await page('/overview')
    expect(html).toContain('<a href="#needs-attention">1 spiking</a>, ')
    const row = /<li>(?:(?!<\/li>).)*spiking.*?<\/li>/s.exec(html)?.[0] ?? ''
    expect(row).toMatch(/<bdi>spiking 1\d\d×<\/bdi>/)
    expect(row).toMatch(new RegExp(`errors/${ids.ReportFailed}">ReportFailed<`))
    expect(row).toContain('<bdi>src/report.ts:7</bdi>')
    expect(row).toContain('class="badge severity-low">low<')
    expect(row).toMatch(/title="ReportFailed on Web, on average 0\.1 ± 0\.4 per hour">20 this hour</)
    // An error with several reasons has one row.
    expect(html.match(new RegExp(`errors/${ids.ReportFailed}">ReportFailed<`, 'g'))).toHaveLength(2)
    expect(await host.json('/overview')).toMatchObject({
      spiking: [{ error_type: 'ReportFailed', count: 20, severity: 'low', error: { id: ids.ReportFailed } }],
    })
  })

  test('the analytics page lists cascades and bursts of the period', async () => {
    const html = await page('/errors/analytics')
    expect(html).toMatch(
      /<h2>Cascades<.*>PoolExhausted<.*&lt;img.*4 of 5.*–.*12 s.*Counted since <time [^>]*>9 Mar 2026/s,
    )
    expect(html).toMatch(/<h2>Bursts<.*>ReportFailed<.*3 min 10 s/s)
    expect(html).not.toContain('<img')
    expect(await host.json('/errors/analytics')).toMatchObject({
      cascades: [{ parent: { error_type: 'PoolExhausted' }, child: { error_type: MARKUP }, followed_count: 4 }],
      bursts: { bursts: [{ occurrence_count: 20, error: { error_type: 'ReportFailed' } }], is_lower_bound: false },
    })
  })

  test('the error page shows when the counting of cascades started', async () => {
    expect(await detail('PoolExhausted')).toMatch(
      /at least twice as often as by chance\. Counted since <time [^>]*>9 Mar 2026/,
    )
  })

  test('shows the baseline on the error page and types above it on the analytics page', async () => {
    expect(await detail('ReportFailed')).toMatch(
      /<h2>Baseline<.*All <code>ReportFailed<\/code> on <bdi>Web<\/bdi>: 20 this hour, usually 0\. Usually 1 to 5 per day\./s,
    )
    expect(await related('ReportFailed')).toMatchObject({ baseline: { count: 20, own_count: 20, is_above: true } })
    // Visible without a click.
    expect(await detail('ReportFailed')).toMatch(/<h2>Baseline<.*<h2>More about this error</s)
    expect(await page('/errors/analytics')).toMatch(
      /<details class="card insight section-toggle" open="">\s*<summary[^>]*><h2>Above baseline today<.*error_type=ReportFailed&amp;platform=Web">ReportFailed<.*>20<.*>3 ± 1\.7</s,
    )
    expect(await host.json('/errors/analytics')).toMatchObject({
      above_baseline: [{ error_type: 'ReportFailed', count: 20, mean: 3 }],
    })
  })

  test('does not report spikes of resolved or snoozed errors', async () => {
    await host.tracker.Commands.UpdateStatus.call({ error_id: ids.ReportFailed ?? 0, status: 'wont_fix' })
    expect(await host.json('/overview')).toMatchObject({ spiking: [] })
  })

  test('shows a spike without its most frequent error if only other errors of the type are open', async () => {
    await log('ReportFailed', NOW, { platform: 'Web', severity: 'high', backtrace: ['at other (src/other.ts:1:1)'] })
    const [spike] = ((await host.json('/overview')) as unknown as Overview).spiking ?? []
    expect(spike).toMatchObject({ error_type: 'ReportFailed', error: null })
    const html = await (await host.get('/overview')).text()
    expect(html).toMatch(
      /error_type=ReportFailed&amp;platform=Web">ReportFailed<\/a><span class="named-error-message"> Other errors of this type are open</,
    )
    // On the page of an error that does not cause the spike, the baseline is collapsed.
    expect(await detail('ReportFailed')).toMatch(
      /<h2>More about this error<.*<h3>Baseline<.*: 21 this hour, usually 0/s,
    )
  })

  const related = async (error_type: string) => {
    const { error } = (await host.json(`/errors/${ids[error_type]}`)) as unknown as { error: { related: object } }
    return error.related
  }
})

test('hides similar errors and returns an empty list for their operation while the feature is off', async () => {
  const host = await startHost('sqlite::memory:', { enable_similar_errors: false }, { now: () => NOW })
  onTestFinished(() => host.close())
  for (const name of 'ABCDEFGHIJ') {
    await host.tracker.Commands.LogError.call({ error_type: `Kind${name}`, message: 'the very same words' })
  }
  expect(await (await host.get('/errors/1')).text()).not.toContain('Similar errors')
  expect(await host.tracker.Queries.SimilarErrors.call({ error_id: 1, threshold: 0 })).toEqual([])
})

/** Timestamp at an hour of a past day. */
function atHour(days_ago: number, hour: number): number {
  return Date.parse('2026-03-10T00:00:00Z') - days_ago * DAY + hour * HOUR + 5 * MINUTE
}

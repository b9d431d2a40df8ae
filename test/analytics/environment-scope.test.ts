import { expect, onTestFinished, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { startHost } from '../support/host.js'
import { freshTracker } from '../support/tracker.js'

describeEachDatabase('the environment filter of queries and pages', (database) => {
  test('limits every figure to one environment', async () => {
    const { tracker } = await freshTracker(database)
    const log = (error_type: string, environment: string, app_version: string, user_id: string) =>
      tracker.Commands.LogError.call({ error_type, message: 'x', environment, app_version, user_id, platform: 'Web' })
    for (const user of ['ada', 'bob', 'cy']) await log('Shared', 'production', '1.0.0', user)
    await log('Live', 'production', '1.0.0', 'ada')
    for (const user of ['dee', 'dee']) await log('Shared', 'staging', '2.0.0', user)
    await log('Staged', 'staging', '2.0.0', 'dee')

    const { Queries } = tracker
    for (const application_id of [undefined, 1]) {
      const staging = { environment: 'staging', application_id }
      expect(await Queries.DashboardStats.call(staging)).toMatchObject({
        ...{ total_errors: 2, errors_today: 2, total_occurrences: 3, occurrences_today: 3 },
        top_errors: [
          { error_type: 'Shared', count: 2 },
          { error_type: 'Staged', count: 1 },
        ],
        errors_by_platform: { Web: 2 },
      })
      const analytics = await Queries.ErrorAnalytics.call(staging)
      expect(analytics).toMatchObject({
        total_occurrences: 3,
        errors_by_platform: [{ platform: 'Web', count: 3 }],
        resolution: { error_count: 2 },
        errors_by_version: [{ app_version: '2.0.0', occurrences: 3, new_error_count: 2 }],
        top_users: [{ user_id: 'dee', error_count: 2 }],
        release: { app_version: '2.0.0', before_version: null, new_count: 2 },
      })
      expect(analytics.errors_by_type.types.map(({ error_type, count }) => [error_type, count])).toEqual([
        ['Shared', 2],
        ['Staged', 1],
      ])
      expect(analytics.user_impact.map(({ user_count }) => user_count)).toEqual([1, 1])
      const { releases } = await Queries.Releases.call(staging)
      expect(releases).toMatchObject([{ app_version: '2.0.0', occurrences: 3, new_count: 2, gone_count: 0 }])
      const correlation = new Queries.ErrorCorrelation(staging)
      expect(await correlation.errorsByVersion()).toMatchObject([{ app_version: '2.0.0', error_count: 2 }])
      expect(await correlation.multiErrorUsers()).toMatchObject([{ user_id: 'dee' }])
      const platforms = new Queries.PlatformComparison(staging)
      expect(await platforms.errorRateByPlatform()).toMatchObject([{ platform: 'Web', occurrences: 3 }])
      expect((await platforms.platformHealthSummary('Web')).top_errors).toHaveLength(2)
    }

    for (const range of ['30d', '1h'] as const) {
      expect(await Queries.Overview.call({ environment: 'staging', range })).toMatchObject({
        ...{ stats: { total_errors: 2 }, occurrences: { count: 3 }, affected_users: { count: 1 } },
        ...{ unresolved: { count: 2 }, new_errors: { count: 2 }, releases: [{ name: '2.0.0', total: 3 }] },
        top_by_impact: [{ error_type: 'Shared', occurrences: 2 }, { error_type: 'Staged' }],
      })
    }
    expect(await Queries.Overview.call({ environment: 'nowhere' })).toMatchObject({
      ...{ stats: { total_errors: 0, total_occurrences: 0 }, top_by_impact: [], releases: [] },
    })
  })

  test('offers the environments on every page, and names them for an unknown environment', async () => {
    const { tracker, url } = await freshTracker(database)
    const log = (environment: string) => tracker.Commands.LogError.call({ error_type: 'E', message: 'x', environment })
    await log('production')
    const host = await startHost(url)
    onTestFinished(() => host.close())
    const text = async (path: string) => (await host.get(path)).text()
    expect(await text('/overview')).not.toContain('All environments')
    await log('staging')
    const pages = ['/overview', '/errors', '/releases', '/errors/analytics', '/errors/correlation']
    for (const path of [...pages, '/errors/platform_comparison']) {
      const known = await text(`${path}?environment=staging`)
      expect(known, path).toContain('<span class="word">staging</span>')
      expect(known, path).toContain('environment=staging')
      const unknown = await text(`${path}?environment=%3Cb%3E`)
      expect(unknown, path).toContain('No errors in the environment &lt;b&gt;')
      expect(unknown, path).toMatch(/environment=production"><bdi>production.*environment=staging"><bdi>staging/s)
      expect((await host.get(`${path}?environment=nowhere`)).status, path).toBe(404)
      expect(await host.json(`${path}?environment=nowhere`), path).toEqual({
        status: 404,
        error: 'No error has the environment "nowhere". Known environments: "production", "staging"',
      })
    }
    const csv = await host.get('/errors.csv?environment=nowhere')
    expect([csv.status, await csv.text()]).toEqual([404, expect.stringContaining('Known environments: ')])
    expect((await host.get('/errors.csv?environment=staging')).status).toBe(200)
    for (const path of ['/notifications', '/errors/2', '/runtime'])
      expect(await text(`${path}?environment=staging`), path).toContain('<span class="word">staging</span>')
    for (const path of ['/settings', '/health'])
      expect(await text(`${path}?environment=staging`), path).toContain('This page is not filtered by environment')
  })

  test('accepts the environment of the process before its first error, and every environment without any error', async () => {
    const { tracker, url } = await freshTracker(database)
    const host = await startHost(url, { environment: 'preview' })
    onTestFinished(() => host.close())
    const statusOf = async (environment: string) => (await host.get(`/errors.json?environment=${environment}`)).status
    expect([await statusOf('preview'), await statusOf('nowhere')]).toEqual([200, 200])
    await tracker.Commands.LogError.call({ error_type: 'E', message: 'x', environment: 'staging' })
    expect([await statusOf('preview'), await statusOf('nowhere')]).toEqual([200, 404])
    expect((await host.get('/errors?environment=preview')).status).toBe(200)
  })

  test('names the known environments in an empty list of errors with an unknown environment in the query', async () => {
    const { tracker, url } = await freshTracker(database)
    const host = await startHost(url)
    onTestFinished(() => host.close())
    for (const environment of ['production', 'staging'])
      await tracker.Commands.LogError.call({ error_type: 'E', message: 'x', environment })
    const list = async (query: string) => (await host.get(`/errors?query=${encodeURIComponent(query)}`)).text()
    const hint =
      'No error has the environment &quot;nope&quot;. Known environments: &quot;production&quot;, &quot;staging&quot;'
    expect(await list('environment:nope')).toContain(hint)
    expect(await list('environment:staging environment:nope')).toContain(hint)
    expect(await list('environment:staging is:muted')).not.toContain('Known environments')
    expect(await list('-environment:nope is:muted')).not.toContain('Known environments')
  })
})

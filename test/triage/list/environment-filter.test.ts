import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { startHost } from '../../support/host.js'
import { freshTracker } from '../../support/tracker.js'

describeEachDatabase('the environment filter', (database) => {
  test('lists, counts, exports and links the errors of one environment', async () => {
    const { tracker, url } = await freshTracker(database)
    const log = async (error_type: string, environment: string) =>
      (await tracker.Commands.LogError.call({ error_type, message: 'x', environment }))?.id ?? 0
    const production = await log('Shared', 'production')
    const staging = await log('Shared', 'staging')
    await log('Staged', 'staging')
    const listed = async (filter: object) =>
      (await tracker.Queries.ErrorsList.call(filter)).map(({ error_type }) => error_type).sort()
    expect(await listed({ environment: 'staging' })).toEqual(['Shared', 'Staged'])
    expect(await listed({ environment: 'staging', application_id: 1, unresolved: true })).toEqual(['Shared', 'Staged'])
    expect(await listed({ environment: 'Staging' })).toEqual([])
    expect(await listed({ query: 'environment:staging type:Shared' })).toEqual(['Shared'])
    expect(await listed({ query: '-environment:staging' })).toEqual(['Shared'])
    const { pagination } = await tracker.Queries.ErrorsList.page({ environment: 'staging' })
    expect(pagination.total_count).toBe(2)
    await tracker.Commands.ResolveError.call({ error_id: staging })
    expect(await tracker.Queries.FindError.call({ error_id: production })).toMatchObject({
      other_environments: [{ id: staging, environment: 'staging', status: 'resolved', occurrence_count: 1 }],
    })

    const host = await startHost(url)
    expect((await host.json('/errors?environment=nowhere')).status).toBe(404)
    expect((await host.json(`/errors?environment=${'x'.repeat(65)}`)).status).toBe(404)
    expect(await (await host.get('/errors.csv?environment=staging')).text()).not.toContain(',production,')
    const page = await (await host.get('/errors?environment=staging')).text()
    expect(page).toContain('<summary title="Environment"><span class="word">staging</span>')
    expect(page).toContain('<input type="hidden" name="environment" value="staging"')
    expect(page).toContain('Open')
    expect(await (await host.get(`/errors/${production}`)).text()).toMatch(/also in .*errors\/\d+[^>]*>\s*<bdi>staging/)
    await host.close()
  })
})

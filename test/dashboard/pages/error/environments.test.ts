import { expect, onTestFinished, test } from 'vitest'
import { describeEachDatabase } from '../../../support/databases.js'
import { startHost } from '../../../support/host.js'

describeEachDatabase('an error of another environment', (database) => {
  test('an error of another environment cannot be read, changed or deleted', async () => {
    const host = await startHost(await database.fresh(), { environment: 'production' })
    onTestFinished(() => host.close())
    const { Commands, Queries } = host.tracker
    const log = async (environment: string) =>
      (await Commands.LogError.call({ error_type: 'A', message: 'x', environment }))?.id ?? 0
    const ids = { production: await log('production'), staging: await log('staging') }
    const error_id = ids.production
    const status = async () => (await Queries.FindError.call({ error_id })).status

    for (const path of [`/errors/${error_id}`, `/errors/${error_id}.json`]) {
      expect([path, (await host.get(`${path}?environment=staging`)).status]).toEqual([path, 404])
      expect([path, (await host.get(`${path}?environment=production`)).status]).toEqual([path, 200])
    }
    for (const query of [Queries.FindError, Queries.ErrorHistory, Queries.ErrorUsers]) {
      await expect(query.call({ error_id, environment: 'staging' })).rejects.toThrow('No error with id')
      await query.call({ error_id, environment: 'production' })
    }

    const resolve = (environment: string) => host.post(`/errors/${error_id}/resolve`, { environment })
    expect((await resolve('staging')).status).toBe(404)
    expect(await status()).toBe('new')
    expect((await resolve('production')).status).toBe(302)
    expect(await status()).toBe('resolved')

    const batch = async (fields: Record<string, string>) => {
      const form = { 'error_ids[]': [String(ids.production), String(ids.staging)], environment: 'staging', ...fields }
      const response = await host.post('/errors/batch_action', form)
      return decodeURIComponent(response.headers.get('set-cookie') ?? '').replaceAll('+', ' ')
    }
    expect(await batch({ action_type: 'update_status', status: 'investigating' })).toContain('1 error set to')
    expect(await status()).toBe('resolved')
    const staging = { error_ids: Object.values(ids), environment: 'staging' }
    const skipped = { changed: 1, unchanged: 0, skipped: 1 }
    expect(await Commands.BatchResolveErrors.call(staging)).toEqual(skipped)
    expect(await Commands.BatchMuteErrors.call(staging)).toEqual(skipped)
    expect(await Commands.BatchAssignErrors.call({ ...staging, assigned_to: 'Ada' })).toEqual(skipped)
    expect(await batch({ action_type: 'delete' })).toContain('1 error deleted, 1 not found')
    expect(await Queries.FindError.call({ error_id })).toMatchObject({ muted_at: null, assigned_to: null })
    await expect(Queries.FindError.call({ error_id: ids.staging })).rejects.toThrow('No error with id')
  })

  test('every link to an error of another environment works', async () => {
    const host = await startHost(await database.fresh(), { environment: 'production' })
    onTestFinished(() => host.close())
    const log = async (environment: string) =>
      (await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment }))?.id ?? 0
    const ids = { production: await log('production'), staging: await log('staging') }
    const { production: error_id } = ids
    await host.tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })

    const linked = async (path: string, id: number) => {
      const page = await (await host.get(path)).text()
      const links = [...page.matchAll(new RegExp(`href="/error_dashboard(/errors/${id}(?:\\?[^"]*)?)"`, 'g'))]
      const found = links.map(([, link = '']) => link.replaceAll('&amp;', '&'))
      expect(found, path).not.toEqual([])
      for (const link of found) expect([link, (await host.get(link)).status]).toEqual([link, 200])
    }
    await linked(`/errors/${ids.staging}?environment=staging`, error_id)
    await linked(`/errors/${ids.staging}`, error_id)
    await linked('/errors', error_id)
    await linked('/errors?environment=production', error_id)
    // The audit covers all environments.
    await linked('/settings/audit?environment=staging', error_id)
    const short = await host.get(`/e/shop-${error_id}`)
    expect(short.headers.get('location')).toBe(`/error_dashboard/errors/${error_id}`)
  })
})

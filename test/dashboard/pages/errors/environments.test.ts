import { expect, onTestFinished, test } from 'vitest'
import { startHost } from '../../../support/host.js'

test('a row shows the environment of an error that differs from that of this process', async () => {
  const host = await startHost('sqlite::memory:', { environment: 'production' })
  onTestFinished(() => host.close())
  for (const environment of ['production', 'staging']) {
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment })
  }
  const page = await (await host.get('/errors')).text()
  expect(page.match(/<tr[^>]* data-row/g)).toHaveLength(2)
  expect(page.match(/<span class="application">staging<\/span>/g)).toHaveLength(1)
  expect(page).not.toContain('<span class="application">production</span>')
})

test('the sidebar offers environments on filtered pages only, and shows "All environments" on all other pages', async () => {
  const host = await startHost('sqlite::memory:', { environment: 'production', enable_system_health: true })
  onTestFinished(() => host.close())
  const sidebar = async (path: string) => {
    const page = await (await host.get(path)).text()
    if (page.includes('<summary title="Environment">')) return 'menu'
    return page.includes('>All environments</p>') ? 'text' : 'none'
  }
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
  expect(await sidebar('/settings')).toBe('none')
  const staged = { error_type: 'A', message: 'x', environment: 'staging' }
  const logged = await host.tracker.Commands.LogError.call(staged)
  // The list of environments is cached per application.
  const [application] = await host.tracker.Queries.Applications.call()
  const query = `?application_id=${application?.id}&environment=staging`
  for (const path of ['/overview', '/errors', `/errors/${logged?.id}`, '/releases', '/notifications', '/runtime']) {
    expect([path, await sidebar(`${path}${query}`)]).toEqual([path, 'menu'])
  }
  for (const path of ['/health', '/settings', '/settings/audit', '/settings/access']) {
    expect([path, await sidebar(`${path}${query}`)]).toEqual([path, 'text'])
  }
})

test('the page with a new token shows no environment menu', async () => {
  const host = await startHost('sqlite::memory:', { environment: 'production' })
  onTestFinished(() => host.close())
  for (const environment of ['production', 'staging']) {
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment })
  }
  const created = await host.post('/settings/access', { name: 'ci', role: 'viewer', environment: 'staging' })
  const page = await created.text()
  expect(page).toContain('Token created')
  expect(page).toContain('>All environments</p>')
  expect(page).not.toContain('<summary title="Environment">')
})

test('the top bar shows the selected environment, except on pages without the filter', async () => {
  const host = await startHost('sqlite::memory:', { environment: 'production' })
  onTestFinished(() => host.close())
  for (const environment of ['production', 'staging']) {
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment })
  }
  const topBar = async (path: string) =>
    /<header class="top-bar">.*?<\/header>/.exec(await (await host.get(path)).text())?.[0]
  expect(await topBar('/errors?environment=staging')).toContain('title="Environment: staging"')
  expect(await topBar('/errors')).not.toContain('Environment')
  expect(await topBar('/settings?environment=staging')).not.toContain('Environment')
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.js'

const DIAGNOSTICS = {
  '/process_health': 'Processes',
  '/errors/diagnostic_dumps': 'Dumps',
  '/errors/n_plus_one': 'N+1 queries',
  '/errors/deprecations': 'Deprecations',
  '/errors/swallowed_exceptions': 'Swallowed exceptions',
  '/errors/request_guard_summary': 'Rate limits',
}

const ALL_ENABLED = {
  enable_breadcrumbs: true,
  enable_process_health: true,
  enable_diagnostic_dump: true,
  detect_n_plus_one_queries: true,
  enable_deprecation_tracking: true,
  detect_swallowed_exceptions: true,
  enable_request_guard_tracking: true,
}

/** Labels and targets of the links in the navigation with this name; the current link has a `*`. */
async function linksIn(host: Host, path: string, name: string): Promise<Record<string, string>> {
  const page = await (await host.get(path)).text()
  const navigation = page.split(`aria-label="${name}"`)[1]?.split('</nav>')[0] ?? ''
  const links = navigation.matchAll(/<a href="\/error_dashboard([^"?]*)([^>]*)>(.*?)<\/a>/gs)
  return Object.fromEntries(
    [...links].map(([, target = '', attributes, label = '']) => [
      label.replace(/<[^>]*>/g, '').trim() + (attributes?.includes('aria-current') ? '*' : ''),
      target,
    ]),
  )
}

describe('navigation', () => {
  let plain: Host
  let full: Host

  beforeAll(async () => {
    plain = await startHost('sqlite::memory:', { enable_platform_comparison: false })
    full = await startHost('sqlite::memory:', ALL_ENABLED)
  })

  afterAll(async () => {
    await plain.close()
    await full.close()
  })

  test('the sidebar has seven sections', async () => {
    const page = await (await plain.get('/overview')).text()
    const sections = page.split('class="rail-links"')[1]?.split('</ul>')[0] ?? ''
    expect([...sections.matchAll(/class="word">([^<]+)/g)].map(([, label]) => label)).toEqual([
      'Overview',
      'Errors',
      'Releases',
      'Insights',
      'Alerts',
      'Runtime',
      'Settings',
    ])
    expect([...sections.matchAll(/data-go="(\w)"/g)].map(([, key]) => key).join('')).toBe('oeriats')
    expect(page).toContain('<kbd>g</kbd><kbd>t</kbd></span></dt><dd>Runtime</dd>')
  })

  test.each([
    ['/errors/analytics', 'Analytics'],
    ['/errors/platform_comparison', 'Platforms'],
    ['/errors/correlation', 'Correlation'],
  ])('%s is the tab %s of Insights', async (path, label) => {
    const tabs = await linksIn(full, path, 'Insights')
    expect(Object.values(tabs)).toEqual(['/errors/analytics', '/errors/platform_comparison', '/errors/correlation'])
    expect(tabs[`${label}*`]).toBe(path)
  })

  test.each([
    ['/health', 'Health'],
    ['/settings', 'Configuration'],
    ['/settings/audit', 'Audit'],
  ])('%s is the tab %s of Settings', async (path, label) => {
    const tabs = await linksIn(full, path, 'Settings')
    expect(Object.values(tabs)).toEqual(['/health', '/settings', '/settings/access', '/settings/audit'])
    expect(tabs[`${label}*`]).toBe(path)
  })

  test.each(Object.entries(DIAGNOSTICS))('%s is the tab %s of Runtime', async (path, label) => {
    expect((await full.get(path)).status).toBe(200)
    const tabs = await linksIn(full, path, 'Runtime')
    expect(Object.values(tabs)).toEqual(Object.keys(DIAGNOSTICS))
    expect(tabs[`${label}*`]).toBe(path)
  })

  test('Runtime opens the first enabled diagnostic', async () => {
    expect(await linksIn(full, '/overview', 'Main')).toMatchObject({ Runtime: '/process_health' })
    expect(await (await full.get('/runtime')).text()).toContain('All diagnostics are enabled')
    expect(await linksIn(full, '/runtime', 'Runtime')).toMatchObject({ 'Diagnostics*': '/runtime' })
  })

  test('Runtime shows a card for each diagnostic if none is enabled', async () => {
    expect(await linksIn(plain, '/overview', 'Main')).toMatchObject({ Runtime: '/runtime' })
    const page = await (await plain.get('/runtime')).text()
    for (const path of Object.keys(DIAGNOSTICS)) expect(page).toContain(`<a href="/error_dashboard${path}">`)
    expect(await plain.json('/runtime')).toMatchObject({
      diagnostics: expect.arrayContaining([
        {
          label: 'Dumps',
          path: '/errors/diagnostic_dumps',
          enabled: false,
          needs: ['enable_diagnostic_dump'],
        },
      ]),
    })
  })

  test('a disabled diagnostic belongs to the tab with all disabled diagnostics', async () => {
    expect(await linksIn(plain, '/errors/diagnostic_dumps', 'Runtime')).toEqual({ 'Diagnostics*': '/runtime' })
  })

  test.each([
    ...Object.entries(DIAGNOSTICS),
    ['/errors/platform_comparison', 'Platforms'],
    ['/errors/diagnostic_dumps/1', 'Dumps'],
  ])('%s shows what %s would show and the options that enable it', async (path, label) => {
    const { status, error } = await plain.json(path)
    expect(status).toBe(404)
    const [, ...options] = /Set (\w+)(?: and (\w+))? to true/.exec(String(error)) ?? []
    const response = await plain.get(path)
    expect(response.status).toBe(404)
    const page = await response.text()
    expect(page).toContain(`<title>${label} · shop</title>`)
    expect(page).toContain(`<h1>${label}</h1>`)
    expect(page).not.toContain('Not found')
    expect(page).toContain('<figcaption>Sample data</figcaption>')
    expect(page.match(/<th scope="row">/g)?.length).toBeGreaterThan(1)
    for (const option of options.filter(Boolean)) {
      expect(page).toContain(`${option}: true,`)
      expect(page).toContain(`FAULTBOARD_${option?.toUpperCase()}=true`)
    }
    expect(page).toContain('data-copy="enable-options"')
  })

  test('a page with one missing option names only that option', async () => {
    const host = await startHost('sqlite::memory:', { detect_n_plus_one_queries: true })
    const page = await (await host.get('/errors/n_plus_one')).text()
    expect(page).toContain('enable_breadcrumbs: true,')
    expect(page).not.toContain('detect_n_plus_one_queries: true')
    await host.close()
  })

  test('an unknown record of an enabled diagnostic is not found', async () => {
    expect(await (await full.get('/errors/diagnostic_dumps/999')).text()).toContain('<h1>Not found</h1>')
  })

  test('a disabled insight keeps its tab', async () => {
    const tabs = await linksIn(plain, '/errors/platform_comparison', 'Insights')
    expect(tabs['Platforms (off)*']).toBe('/errors/platform_comparison')
  })

  test('other pages have no tabs', async () => {
    expect(await linksIn(plain, '/releases', 'Releases')).toEqual({})
  })
})

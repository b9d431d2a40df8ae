import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../../support/host.js'

const MARKUP = '<b onclick=alert(1)>shop</b>'

describe('the settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-settings-'))
  let host: Host
  let page = ''

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', {
      application_name: MARKUP,
      // Trackers in memory share a folder, which contains the files of other tests.
      spool_path: folder,
      sampling_rate: 0.5,
      async_logging: true,
      sensitive_data_patterns: [/<script>/, 'pin'],
      chat_webhook_url: 'https://hooks.example.com/secret-part',
    })
    page = await (await host.get('/settings')).text()
  })

  afterAll(async () => {
    await host.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const row = (name: string, text = page) =>
    new RegExp(`id="${name}".*?(?=class="setting"|</section>)`, 's').exec(text)?.[0] ?? ''

  test('shows names in backticks as code', () => {
    expect(page).toContain('NODE_ENV, or <code>production</code>.')
    expect(page).not.toMatch(/<p>[^<]*`/)
  })

  test('the settings are grouped, and an index links to each group', () => {
    for (const group of ['identity', 'storage', 'dashboard', 'capture', 'privacy', 'notifications', 'diagnostics']) {
      expect(page).toContain(`href="#${group}"`)
      expect(page).toContain(`id="${group}"`)
    }
  })

  test('the settings show switches as on or off with descriptions and mark customized options', () => {
    expect(row('async_logging')).toMatch(/changed.*class="switch on">On</s)
    expect(row('enable_breadcrumbs')).toContain('class="switch off">Off<')
    expect(row('enable_breadcrumbs')).not.toContain('>changed<')
    expect(row('sampling_rate')).toMatch(/changed.*<code>0\.5<\/code>/s)
    expect(row('sampling_rate')).toContain('FAULTBOARD_SAMPLING_RATE')
  })

  test('the settings never show a secret or render markup', async () => {
    for (const text of [page, await (await host.get('/settings.json')).text()]) {
      expect(text).not.toContain('pässword')
      expect(text).not.toContain('secret-part')
    }
    expect(row('dashboard_password')).toContain('••••••••')
    expect(page).not.toContain('<b onclick')
    expect(page).not.toContain('<script>/')
    expect(page).toContain('&lt;b onclick=alert(1)&gt;')
  })

  test('the settings can be filtered by name and text without JavaScript', async () => {
    const some = await (await host.get('/settings?filter=SAMPLING')).text()
    expect(some).toContain('id="sampling_rate"')
    expect(some).not.toContain('id="dashboard_password"')
    const none = await (await host.get(`/settings?filter=${encodeURIComponent('<i>nothing')}`)).text()
    expect(none).toContain('No settings match “&lt;i&gt;nothing”')
    // The filter must not allow guessing a masked value letter by letter.
    expect(await (await host.get('/settings?filter=p%C3%A4ssword')).text()).not.toContain('id="dashboard_password"')
  })

  test('the settings include the health of the tracker in the JSON', async () => {
    expect(await host.json('/settings')).toMatchObject({
      health: {
        state: { database: 'sqlite::memory:', buffered: 0, queued: 0, spooled_files: 0, files_set_aside: 0 },
        dropped: [],
      },
    })
  })
})

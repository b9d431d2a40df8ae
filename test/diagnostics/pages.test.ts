import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatBytes, formatMilliseconds, formatSeconds } from '../../src/dashboard/ui/units.js'
import { type Host, startHost } from '../support/host.js'
import { withDatabase } from '../support/tracker.js'
import { EVIL, HOSTILE, storeSamples } from './samples.js'

const NOW = Date.UTC(2026, 4, 20, 12)
const ON = {
  detect_swallowed_exceptions: true,
  enable_diagnostic_dump: true,
  enable_request_guard_tracking: true,
  enable_breadcrumbs: true,
}
const PAGES = ['/errors/swallowed_exceptions', '/errors/diagnostic_dumps', '/errors/request_guard_summary']

describe('the pages of the diagnostics', () => {
  let folder: string
  let host: Host
  let url: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-diagnostics-'))
    url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, { ...ON, application_name: EVIL }, { now: () => NOW })
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
  })

  afterAll(async () => {
    await host?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('diagnostic pages show an empty state with the next step', async () => {
    // Uses a different range than later tests, because the result of the request guard may be cached.
    const [swallowed, dumps, guard] = await Promise.all(
      PAGES.map(async (path) => (await host.get(path.includes('guard') ? `${path}?days=7` : path)).text()),
    )
    expect(swallowed).toContain('No exceptions counted in the last 30 days')
    expect(swallowed).toContain('node --import faultboard/register app.js')
    expect(dumps).toContain('No dumps yet')
    expect(dumps).toContain('Tracker.Commands.CaptureDiagnosticDump.call(')
    expect(guard).toContain('No limited requests in the last 7 days')
    expect(guard).toContain('Tracker.requestGuard.record(')
  })

  test('diagnostic pages offer three ranges and mark the current range', async () => {
    const page = await (await host.get('/errors/swallowed_exceptions?days=90')).text()
    for (const days of [7, 30, 90]) expect(page).toContain(`/errors/swallowed_exceptions?days=${days}"`)
    expect(page).toMatch(/days=90" aria-current="page"/)
    expect(page).toContain('No exceptions counted in the last 90 days')
  })

  describe('with hostile content', () => {
    beforeAll(async () => {
      await storeSamples(url, NOW, HOSTILE)
      host.tracker.addBreadcrumb({ category: EVIL, message: EVIL })
      await host.post('/errors/diagnostic_dumps', { note: EVIL })
      await host.tracker.flush()
    })

    test.each([...PAGES, '/errors/diagnostic_dumps/1'])('renders hostile content as text: %s', async (path) => {
      const response = await host.get(path)
      expect(response.status).toBe(200)
      const page = await response.text()
      expect(page).toContain('&lt;script&gt;alert(1)')
      expect(page).not.toContain('<script>alert')
      expect(page).not.toContain('<img src=x')
      expect(page).not.toContain('"\'>')
    })

    test('labels entries without a name', async () => {
      expect(await (await host.get('/errors/swallowed_exceptions')).text()).toContain('an unknown location')
      expect(await (await host.get('/errors/request_guard_summary')).text()).toContain('unnamed')
    })
  })

  test('a dump with a missing section shows all other sections', async () => {
    await withDatabase(url, async ({ read }) => {
      // Simulates a dump written by an older version.
      const content = `{"captured_by":null}\n${JSON.stringify({ memory: { rss_bytes: 1_048_576 }, heap: null })}`
      await read
        .insertInto('faultboard_diagnostic_dumps')
        .values({
          application_id: 1,
          environment: 'test',
          note: null,
          content,
          created_at: NOW,
        })
        .execute()
    })
    const page = await (await host.get('/errors/diagnostic_dumps/2')).text()
    expect(page).toContain('Not available, or too large to store.')
    expect(page).toContain('1 MB')
    expect((await host.get('/errors/diagnostic_dumps')).status).toBe(200)
  })

  test('redirects to the selected application after a dump', async () => {
    const page = await (await host.get('/errors/diagnostic_dumps?application_id=1')).text()
    expect(page).toMatch(
      /action="\/error_dashboard\/errors\/diagnostic_dumps"[^>]*><input type="hidden" name="application_id" value="1"/,
    )
    const captured = await host.post('/errors/diagnostic_dumps', { application_id: '1' })
    expect(captured.headers.get('location')).toBe('/error_dashboard/errors/diagnostic_dumps?application_id=1')
  })
})

describe('units', () => {
  test.each([
    [0, '0 bytes'],
    [1023, '1,023 bytes'],
    [1024, '1 KB'],
    [1_500_000, '1.4 MB'],
    [250 * 1024 ** 2, '250 MB'],
    [3 * 1024 ** 4, '3 TB'],
    [5 * 1024 ** 5, '5,120 TB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })

  test.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [3661, '1 h 1 min'],
    [90_061, '1 d 1 h'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text)
  })

  test.each([
    [0.04, '0 ms'],
    [12.34, '12.3 ms'],
    [1234.5, '1,235 ms'],
    [65_000, '1 min 5 s'],
  ])('%d milliseconds are %s', (milliseconds, text) => {
    expect(formatMilliseconds(milliseconds)).toBe(text)
  })
})

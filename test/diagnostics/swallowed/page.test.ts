import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Visit } from '../../../src/dashboard/define.js'
import type { SwallowingLocation } from '../../../src/diagnostics/swallowed/query.js'
import {
  type ShownColumns,
  SwallowingLocationItem,
  shownColumns,
} from '../../../src/diagnostics/swallowed/swallowing-location.js'
import { type Host, startHost } from '../../support/host.js'
import { storeSamples } from '../samples.js'

const NOW = Date.UTC(2026, 4, 20, 12)
const WORDS = { rule: 'r', address: '192.0.2.1', path: '/' }

describe('the swallowed-exceptions page', () => {
  let folder: string
  let host: Host
  let strict: Host
  let url: string
  const shown = async (from = host) => (await from.get('/errors/swallowed_exceptions')).text()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-swallowed-'))
    url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, { detect_swallowed_exceptions: true }, { now: () => NOW })
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
    const never = { detect_swallowed_exceptions: true, swallowed_exception_threshold: 1 }
    strict = await startHost(url, never, { now: () => NOW })
  })

  afterAll(async () => {
    await host?.close()
    await strict?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('shows how to enable detection at startup', async () => {
    expect(await shown()).toContain(
      'FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js',
    )
  })

  test('omits columns without a value in any row', () => {
    const location = (raise_count: number, unaccounted_count: number): SwallowingLocation => ({
      ...{ error_type: 'Error', raise_location: 'src/a.ts:1:1', raise_count, rescue_count: 2, unaccounted_count },
      ...{ reported_count: 0, rescue_ratio: 1, last_seen_at: new Date(NOW).toISOString(), handlers: [] },
    })
    expect(shownColumns([location(5, 0), location(2, 0)])).toEqual({ ratio: false, unaccounted: false })
    expect(shownColumns([location(5, 0), location(500, 1)])).toEqual({ ratio: true, unaccounted: true })
    const visit = {
      base: '',
      query: new URLSearchParams(),
      applications: [],
      application_id: null,
      now: NOW,
    } as unknown as Visit
    const render = (columns: ShownColumns) =>
      String(SwallowingLocationItem({ location: location(5, 0), columns, source: null, open: false, visit }))
    expect(render({ ratio: true, unaccounted: true })).toContain('<dt>Ratio</dt><dd>–</dd>')
    expect(render({ ratio: false, unaccounted: false })).not.toMatch(/<dt>(Ratio|Unaccounted)/)
  })

  describe('with counts', () => {
    beforeAll(() =>
      storeSamples(url, NOW, [
        { ...WORDS, type: 'TypeError', place: 'src/cart.ts:4:2', handler: 'src/register.ts:13:3' },
        { ...WORDS, type: 'RangeError', place: '~src/pay.ts:9:9', handler: 'src/pay.ts:9:9' },
      ]),
    )

    test('shows figures, handler behavior and the code of the first handler', async () => {
      const page = await shown()
      expect(page).toMatch(
        /1,005 thrown in 2 locations: 1,000 swallowed, 0 reported, <span title="Neither caught [^"]+">5 unaccounted for<\/span>\./,
      )
      expect(page).toMatch(/<dt>Ratio<\/dt><dd>99%<\/dd>/)
      expect(page).toMatch(/<dt>Unaccounted<\/dt><dd>5<\/dd>/)
      expect(page).toContain('empty catch')
      expect(page).toContain('thrown below ')
      expect(page).toMatch(/Show handler<\/summary><pre class="source"/)
      expect(page).toContain('This process does not count its own exceptions')
    })

    test('links a location to errors with its file in the stack trace', async () => {
      expect(await shown()).toMatch(/href="[^"]*search=src%2Fcart\.ts[^"]*"[^>]*><code>src\/cart\.ts:4:2/)
    })

    test('shows thrown exceptions when no location exceeds the threshold', async () => {
      expect(await shown(strict)).toContain('1,005 exceptions were thrown, 99.5% of them caught and never reported')
    })
  })
})

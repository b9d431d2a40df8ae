import { describe, expect, test } from 'vitest'
import { releaseNames } from '../../../src/reporting/sentry/release.js'
import { intakeHost, ON_SQLITE } from './intake-host.js'

const MAP = JSON.stringify({ version: 3, sources: ['src/original.ts'], names: [], mappings: 'AAAA' })

const event = (release: string) => ({
  release,
  exception: { values: [{ type: 'E', value: 'm', stacktrace: { frames: [FRAME] } }] },
})
const FRAME = { abs_path: 'https://shop.example/app.js', lineno: 1, colno: 1, context_line: 'minified' }

describe('Source maps for events of a Sentry SDK', () => {
  test.each([
    ['shop@2.4.0', 'shop@2.4.0'],
    ['shop@2.4.0', '2.4.0'],
    ['shop@2.4.0+118', '2.4.0'],
    ['shop@a1b2c3d4e5', 'a1b2c3d4e5'],
    ['a1b2c3d4e5', 'a1b2c3d4e5'],
  ])('source maps are found for the release %s by the name %s', async (sdk_release, release) => {
    const host = await intakeHost(ON_SQLITE)
    await host.tracker.Commands.StoreSourceMap.call({ release, file_name: 'app.js', map: MAP })
    await host.event(event(sdk_release))
    const { backtrace, details } = await host.find('m')
    expect(backtrace).toEqual(['at src/original.ts:1:1'])
    // The context line of the generated code is dropped.
    expect(details).not.toHaveProperty('frame_sources')
  })

  test('searches source maps by the full release name first', () => {
    expect(releaseNames('@team/shop@2.4.0+118')).toEqual(['@team/shop@2.4.0+118', '2.4.0+118', '2.4.0'])
    expect(releaseNames(' blue ')).toEqual(['blue'])
    expect(releaseNames(undefined)).toEqual([])
  })
})

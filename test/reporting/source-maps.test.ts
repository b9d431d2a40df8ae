import { describe, expect, test } from 'vitest'
import { unpackText } from '../../src/capture/source-maps/stored/packed-text.js'
import { deleteOldSourceMaps } from '../../src/diagnostics/source-maps/releases.js'
import { storeSourceMap } from '../../src/diagnostics/source-maps/store-source-map.js'
import type { FrameSource } from '../../src/model/stacks/frame-source.js'
import { perform } from '../../src/operation.js'
import { runningContext } from '../diagnostics/running.js'
import { describeOneDatabase } from '../support/databases.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'
import { type BuiltShop, buildShop, CART, SITE } from './built-shop.js'
import { onlyError, REPORT, type ReportingHost, reportingHost } from './reporting-host.js'

const RELEASE = '1.4.0'
const MAP = JSON.stringify({ version: 3, sources: ['src/original.ts'], names: [], mappings: 'AAAA' })

const report = (stack: string, app_version = RELEASE) => ({
  error: {
    ...REPORT,
    error_type: 'RangeError',
    message: 'the cart is empty',
    url: 'https://www.shop.example/',
    stack,
    app_version,
  },
})

async function upload(
  { tracker }: ReportingHost,
  shop: BuiltShop,
  release = RELEASE,
  { file_name = shop.script, sources = true } = {},
) {
  const { map, code } = shop
  return tracker.Commands.StoreSourceMap.call({ release, file_name, map, code, folder: 'dist/assets', sources })
}

const ORIGINAL = [
  /^at priceOf \(src\/cart\.ts:9:\d+\)$/,
  /^at total \(src\/cart\.ts:5:\d+\)$/,
  /^at announce \(src\/main\.ts:3:\d+\)$/,
  /^at checkout \(src\/main\.ts:4:\d+\)$/,
]

describeOneDatabase('Uploaded source maps', (database) => {
  test('maps a stack to the original source and groups it across browsers and builds', async () => {
    const host = await reportingHost({}, { database: await database.fresh() })
    const first = await buildShop(temporaryFolder())
    const edit =
      'export function addedLater(a: number, b: number, c: number) { return [a, b, c] }\naddedLater(1, 2, 3)\n'.repeat(
        1,
      )
    const second = await buildShop(temporaryFolder(), `${edit}console.log(addedLater)\n`)
    // Requires different minified names in both builds.
    const names = ({ stacks }: BuiltShop) => stacks.firefox.replace(/@.*$/gm, '')
    expect(names(second)).not.toBe(names(first))
    await upload(host, first)
    await upload(host, second, '1.5.0')
    for (const stack of Object.values(first.stacks)) {
      expect((await host.post(report(stack))).status).toBe(201)
      const { backtrace } = await onlyError(host.tracker)
      for (const [i, line] of ORIGINAL.entries()) expect(backtrace[i]).toMatch(line)
    }
    const { backtrace, details } = await onlyError(host.tracker)
    const sources = details.frame_sources as FrameSource[]
    expect(sources.map(({ frame }) => frame)).toEqual(backtrace.slice(0, sources.length))
    expect(sources[0]).toMatchObject({ first: 4, lines: CART.split('\n').slice(3, 14) })
    for (const stack of Object.values(second.stacks)) await host.post(report(stack, '1.5.0'))
    const error = await onlyError(host.tracker)
    expect(error.occurrence_count).toBe(6)
  })

  test('uploaded source maps are stored with application sources only, optionally without sources, and without duplicates', async () => {
    const url = await database.fresh()
    const host = await reportingHost({}, { database: url })
    const shop = await buildShop(temporaryFolder())
    expect(shop.map).toContain('priceOf(this.items)')
    const map = JSON.parse(shop.map)
    map.sources.push('../../node_modules/library/index.ts')
    map.sourcesContent.push('of a library')
    shop.map = JSON.stringify(map)
    await upload(host, shop)
    expect(await upload(host, shop)).toMatchObject({ has_sources: true })
    const [release] = await host.tracker.Queries.SourceMaps.call({ release: RELEASE })
    expect(release).toMatchObject({ release: RELEASE, file_count: 1, files: [shop.script], application_name: 'shop' })
    const kept = await withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_source_maps').select(['packed_map', 'packed_sources', 'packed_bytes']).execute(),
    )
    expect(kept).toHaveLength(1)
    const texts = await Promise.all(
      [kept[0]?.packed_map, kept[0]?.packed_sources].map(async (packedMap) =>
        String(await unpackText(packedMap ?? '', 1e6)),
      ),
    )
    expect(texts.map((text) => text.includes('priceOf(this.items)'))).toEqual([false, true])
    expect(texts.join()).not.toContain('of a library')
    expect(release?.packed_bytes).toBe(kept[0]?.packed_bytes)
    expect(await upload(host, shop, '1.5.0', { sources: false })).toMatchObject({ has_sources: false })
    await host.post(report(shop.stacks.chrome, '1.5.0'))
    expect((await onlyError(host.tracker)).backtrace[0]).toMatch(ORIGINAL[0] as RegExp)
    expect((await onlyError(host.tracker)).details).not.toHaveProperty('frame_sources')
    for (const name of [RELEASE, '1.5.0']) {
      expect(await host.tracker.Commands.DeleteSourceMaps.call({ release: name })).toEqual({ deleted: 1 })
    }
    expect(await host.tracker.Queries.SourceMaps.call()).toEqual([])
  })

  test('uploaded source maps are deleted for the oldest releases beyond the limit', async () => {
    const host = await reportingHost({}, { database: await database.fresh(), source_map_max_releases: 2 })
    const shop = await buildShop(temporaryFolder())
    await upload(host, shop, '1')
    await upload(host, shop, '2')
    expect((await upload(host, shop, '3')).removed_releases).toEqual(['1'])
    host.clock.now += 1000
    await upload(host, shop, '2', { file_name: 'other.js' })
    expect((await upload(host, shop, '4')).removed_releases).toEqual(['3'])
    const releases = await host.tracker.Queries.SourceMaps.call()
    expect(releases.map(({ release }) => release).sort()).toEqual(['2', '4'])
  })

  test('uploaded source maps are deleted by the nightly job after the limit is lowered', async () => {
    const context = await runningContext(database)
    for (const application_name of ['shop', 'billing']) {
      const config = { ...context.config, application_name }
      for (const release of ['1', '2', '3']) {
        await perform(storeSourceMap, { ...context, config }, { release, file_name: 'a.js', map: MAP })
      }
    }
    await deleteOldSourceMaps({ ...context, config: { ...context.config, source_map_max_releases: 1 } })
    const kept = await context.database.read.selectFrom('faultboard_source_maps').select('release_name').execute()
    expect(kept).toEqual([{ release_name: '3' }, { release_name: '3' }])
  })
})

describe('Limits for reading maps', () => {
  /** Uploads scripts with maps and returns a generated frame of each. */
  async function scripts(host: ReportingHost, count: number, map = MAP): Promise<string[]> {
    for (let i = 0; i < count; i++) {
      await host.tracker.Commands.StoreSourceMap.call({ release: RELEASE, file_name: `${i}.js`, map })
    }
    return Array.from({ length: count }, (_, i) => `at f (https://shop.example/${i}.js:1:1)`)
  }
  const error = { source: 'reporting' as const, error_type: 'E', message: 'x', app_version: RELEASE }

  test('limits for reading maps apply to an error including its causes', async () => {
    const host = await reportingHost()
    const [ownFrames = '', ...others] = await scripts(host, 12)
    const causes = others.map((line) => ({
      ...{ error_type: 'C', message: 'x', relation: 'cause' as const },
      backtrace: [line],
    }))
    await host.tracker.intake.record({ ...error, backtrace: [ownFrames], causes })
    const { backtrace, causes: found } = await onlyError(host.tracker)
    expect(backtrace).toEqual(['at f (src/original.ts:1:1)'])
    expect(found.filter((cause) => cause.backtrace[0]?.includes('original'))).toHaveLength(9)
  })

  test('limits for reading maps apply per minute to all scripts that clients name', async () => {
    const host = await reportingHost({}, { source_map_max_bytes: 10_000 })
    // Eleven of these maps exceed ten times the limit.
    const lines = await scripts(host, 13, MAP.replace('{', `{"file":"${'x'.repeat(9000)}",`))
    const found = async () => {
      for (const line of lines) await host.tracker.intake.record({ ...error, backtrace: [line] })
      await host.tracker.flush()
      return (await host.tracker.stats()).dropped.source_map_skipped
    }
    expect(await found()).toBe(2)
    host.clock.now += 61_000
    expect(await found()).toBe(2)
  })
})

describe('Map of a script', () => {
  const firstLine = async (host: ReportingHost, shop: BuiltShop, version?: string) => {
    await host.post(report(shop.stacks.firefox, version))
    return (await onlyError(host.tracker)).backtrace[0]
  }

  test.each([
    ['its name', (shop: BuiltShop) => shop.script, true],
    ['the end of its path', (shop: BuiltShop) => `assets/${shop.script}`, true],
    ['its whole address', (shop: BuiltShop) => `${SITE}${shop.script}`, true],
    ['no other folder', (shop: BuiltShop) => `other/${shop.script}`, false],
    ['no other site', (shop: BuiltShop) => `https://evil.example/assets/${shop.script}`, false],
    ['no part of a name', (shop: BuiltShop) => shop.script.slice(1), false],
  ])('the map of a script is found by %s', async (_title, fileName, isFound) => {
    const host = await reportingHost()
    const shop = await buildShop(temporaryFolder())
    await upload(host, shop, RELEASE, { file_name: fileName(shop) })
    expect(await firstLine(host, shop)).toMatch(isFound ? /^at priceOf \(src\/cart/ : /\(https:\/\/cdn\.shop/)
  })

  test('the map of a script is found by the release or by the debug id that a bundler wrote into both', async () => {
    const shop = await buildShop(temporaryFolder())
    const host = await reportingHost()
    await upload(host, shop, '9.9.9')
    expect(await firstLine(host, shop)).toContain('https://cdn.shop')
    const other = await reportingHost()
    const debug_id = '0E5A1C6E-7C52-4F3C-9D5E-3A1B5D7F9C11'
    await other.tracker.Commands.StoreSourceMap.call({
      ...{ release: 'any', file_name: 'x.js', debug_id, folder: 'dist/assets' },
      ...{ map: shop.map, code: shop.code },
    })
    const file = `${SITE}${shop.script}`
    const [, position = ''] = /^.*?(:\d+:\d+)$/m.exec(shop.stacks.firefox) ?? []
    await other.tracker.intake.record({
      ...{ source: 'reporting', error_type: 'RangeError', message: 'x', app_version: 'unknown' },
      backtrace: [`at f (${file}${position})`],
      debug_ids: { [file]: debug_id.toLowerCase() },
    })
    expect((await onlyError(other.tracker)).backtrace[0]).toMatch(/^at src\/cart\.ts:9:\d+$/)
  })

  test('the map of a script is looked up once a minute, so that a new map is used without a restart', async () => {
    const host = await reportingHost()
    const shop = await buildShop(temporaryFolder())
    await host.post(report(shop.stacks.chrome))
    await upload(host, shop)
    host.clock.now += 61_000
    await host.post(report(shop.stacks.chrome))
    const errors = await host.tracker.Queries.ErrorsList.call()
    expect(errors.map(({ place }) => place).sort()).toEqual([
      expect.stringContaining('https://cdn.shop'),
      expect.stringMatching(/^src\/cart\.ts:9 in priceOf$/),
    ])
  })
})

describe('Invalid map', () => {
  test('an invalid map is rejected with a message', async () => {
    const { tracker } = await reportingHost({}, { source_map_max_bytes: 10_000 })
    const store = (map: string) => tracker.Commands.StoreSourceMap.call({ release: '1', file_name: 'app.js', map })
    for (const map of ['', 'no JSON', '{}', '{"version":3,"sources":[],"mappings":"!!"}']) {
      await expect(store(map)).rejects.toThrow('The map of app.js is not a valid source map.')
    }
    const large = JSON.stringify({ version: 3, sources: ['x'.repeat(20_000)], mappings: 'AAAA' })
    await expect(store(large)).rejects.toThrow('larger than 10000 bytes (source_map_max_bytes)')
  })

  test('an invalid map in the database does not change the stack or prevent recording', async () => {
    const folder = temporaryFolder()
    const database = `sqlite:${folder}/errors.sqlite3`
    const host = await reportingHost({}, { database })
    const shop = await buildShop(temporaryFolder())
    await upload(host, shop)
    await withDatabase(database, ({ write }) =>
      write((trx) => trx.updateTable('faultboard_source_maps').set({ packed_map: 'H4sIAAAA' }).execute()),
    )
    expect((await host.post(report(shop.stacks.chrome))).status).toBe(201)
    expect((await onlyError(host.tracker)).backtrace[0]).toContain('https://cdn.shop')
    expect((await host.tracker.stats()).dropped.source_map_skipped).toBe(1)
  })

  test('an invalid map is not looked up if enable_source_maps is off', async () => {
    const host = await reportingHost({}, { enable_source_maps: false })
    const shop = await buildShop(temporaryFolder())
    await upload(host, shop)
    await host.post(report(shop.stacks.chrome))
    expect((await onlyError(host.tracker)).backtrace[0]).toContain('https://cdn.shop')
  })
})

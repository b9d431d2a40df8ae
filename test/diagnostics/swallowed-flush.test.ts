import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { eventually, freshPlace, temporaryFolder, trackerAt } from '../support/tracker.js'
import { countedAt, hostFile, namesIn, project, REGISTER, run } from './swallowed-project.js'

const STORM = hostFile('storm.mjs')
const node = process.execPath
const named = namesIn('storm.mjs', STORM)
const storm = (...args: (string | number)[]) => ['--import', REGISTER, 'storm.mjs', ...args.map(String)]

describeEachDatabase('the counts of swallowed exceptions', (database) => {
  test('tell when something was last swallowed, to the flush and not to the hour', async () => {
    const place = await freshPlace(database)
    const began = Date.now()
    await run({ node, folder: project({ 'storm.mjs': STORM }), args: storm(3, 0, 'shutdown'), place })
    const { tracker, clock } = trackerAt(place)
    clock.now = null
    const { locations } = await tracker.Queries.SwallowedExceptions.call()
    expect(locations).toHaveLength(1)
    expect(Date.parse(locations[0]?.last_seen_at ?? '')).toBeGreaterThanOrEqual(began)
  })

  test('of several processes that write at once add up exactly', async () => {
    const place = await freshPlace(database)
    const folder = project({ 'storm.mjs': STORM })
    const env = { FAULTBOARD_SWALLOWED_EXCEPTION_FLUSH_INTERVAL: '1' }
    const ends = await Promise.all(
      ['', 'shutdown', '', 'shutdown'].map((how) =>
        run({ node, folder, args: storm(20_000, 25, how), place: { ...place, spool_path: temporaryFolder() }, env }),
      ),
    )
    expect(ends).toEqual(ends.map(() => ({ code: 0, stdout: '', stderr: '' })))
    expect(await countedAt(place.url, named)).toEqual({
      storm: { error_type: 'RangeError', raised: 80_000, reported: 0, rescued: { 'storm empty': 80_000 } },
      told: { error_type: 'TypeError', raised: 100, reported: 100, rescued: {} },
    })
  })

  test('of a process that ends at once are left on disk, and taken up once by the next', async () => {
    const place = await freshPlace(database)
    const folder = project({ 'storm.mjs': STORM })
    expect(await run({ node, folder, args: storm(700, 0, 'exit'), place })).toEqual({ code: 4, stdout: '', stderr: '' })
    expect(await countedAt(place.url, named)).toEqual({})
    expect(sumsIn(place.spool_path)).toHaveLength(1)
    for (const _again of [1, 2]) {
      expect(await run({ node, folder, args: storm(0, 0), place })).toMatchObject({ code: 0 })
      expect(sumsIn(place.spool_path)).toEqual([])
      expect(await countedAt(place.url, named)).toEqual({
        storm: { error_type: 'RangeError', raised: 700, reported: 0, rescued: { 'storm empty': 700 } },
      })
    }
  })
})

describeEachDatabase(
  'a host',
  (database) => {
    test('that was not started for it is told so once, and how', async () => {
      const place = await freshPlace(database)
      const { lines, tracker } = trackerAt(place, { detect_swallowed_exceptions: true })
      const said = () => lines.filter((line) => line.includes('--import faultboard/register'))
      await eventually(() => said().length > 0, 'it is told')
      await tracker.flush()
      expect(said()).toEqual([
        expect.stringContaining('FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'),
      ])
      const found = await tracker.Queries.SwallowedExceptions.call()
      expect(found).toMatchObject({ is_counting: false, watched_files: 0, runtime: { supported: true } })
    })

    test('that was started for it is told what it swallows', async () => {
      const place = await freshPlace(database)
      const folder = project({ 'storm.mjs': STORM })
      const { stdout } = await run({ node, folder, args: storm(40, 0, 'ask'), place })
      expect(JSON.parse(stdout)).toEqual({ is_counting: true, watched_files: 1, rescue_count: 40, rescue_ratio: 1 })
    })

    test('swallows a hundred thousand and keeps none of them', async () => {
      const place = await freshPlace(database)
      const folder = project({ 'storm.mjs': STORM })
      const heap = async (count: number) => {
        const { stdout, code } = await run({ node, folder, args: ['--expose-gc', ...storm(count, 0, 'heap')], place })
        expect(code).toBe(0)
        return Number(stdout)
      }
      // A sighting of each would take ten million bytes and more.
      expect((await heap(100_000)) - (await heap(1000))).toBeLessThan(3_000_000)
      const { storm: counted } = await countedAt(place.url, named)
      expect(counted).toMatchObject({ raised: 101_000, rescued: { 'storm empty': 101_000 } })
    })
  },
  { except: ['postgres', 'mysql'] },
)

function sumsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('sums-'))
}

import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, freshStorage, temporaryFolder, trackerAt } from '../../support/tracker.js'
import { hostFile, namesIn, project, REGISTER, readCounts, run } from './project.js'

const STORM = hostFile('storm.mjs')
const node = process.execPath
const named = namesIn('storm.mjs', STORM)
const storm = (...args: (string | number)[]) => ['--import', REGISTER, 'storm.mjs', ...args.map(String)]

describeEachDatabase('counts of swallowed exceptions', (database) => {
  test('counts of swallowed exceptions store the environment and the time of the last rescue', async () => {
    const storage = await freshStorage(database)
    const began = Date.now()
    const env = { FAULTBOARD_ENVIRONMENT: 'staging' }
    await run({ node, folder: project({ 'storm.mjs': STORM }), args: storm(3, 0, 'shutdown'), storage, env })
    const { tracker, clock } = trackerAt(storage)
    clock.now = null
    const { SwallowedExceptions } = tracker.Queries
    const { locations } = await SwallowedExceptions.call({ environment: 'staging' })
    expect((await SwallowedExceptions.call({ environment: 'production' })).totals.raise_count).toBe(0)
    expect(locations).toHaveLength(1)
    expect(Date.parse(locations[0]?.last_seen_at ?? '')).toBeGreaterThanOrEqual(began)
  })

  test('counts of swallowed exceptions add up exactly across concurrent processes', async () => {
    const storage = await freshStorage(database)
    const folder = project({ 'storm.mjs': STORM })
    const env = { FAULTBOARD_SWALLOWED_EXCEPTION_FLUSH_INTERVAL: '1' }
    const ends = await Promise.all(
      ['', 'shutdown', '', 'shutdown'].map((how) =>
        run({
          node,
          folder,
          args: storm(20_000, 25, how),
          storage: { ...storage, spool_path: temporaryFolder() },
          env,
        }),
      ),
    )
    expect(ends).toEqual(ends.map(() => ({ code: 0, stdout: '', stderr: '' })))
    expect(await readCounts(storage.url, named)).toEqual({
      storm: { error_type: 'RangeError', raised: 80_000, reported: 0, rescued: { 'storm empty': 80_000 } },
      reported: { error_type: 'TypeError', raised: 100, reported: 100, rescued: {} },
    })
  })

  test('counts of swallowed exceptions are spooled on exit and stored once by the next process', async () => {
    const storage = await freshStorage(database)
    const folder = project({ 'storm.mjs': STORM })
    expect(await run({ node, folder, args: storm(700, 0, 'exit'), storage })).toEqual({
      code: 4,
      stdout: '',
      stderr: '',
    })
    expect(await readCounts(storage.url, named)).toEqual({})
    expect(sumsIn(storage.spool_path)).toHaveLength(1)
    for (const _run of [1, 2]) {
      expect(await run({ node, folder, args: storm(0, 0), storage })).toMatchObject({ code: 0 })
      expect(sumsIn(storage.spool_path)).toEqual([])
      expect(await readCounts(storage.url, named)).toEqual({
        storm: { error_type: 'RangeError', raised: 700, reported: 0, rescued: { 'storm empty': 700 } },
      })
    }
  })
})

describeEachDatabase(
  'swallowed-exception detection',
  (database) => {
    test('logs once how to enable swallowed-exception detection when the host did not preload it', async () => {
      const storage = await freshStorage(database)
      const { lines, tracker } = trackerAt(storage, { detect_swallowed_exceptions: true })
      const warnings = () => lines.filter((line) => line.includes('--import faultboard/register'))
      await eventually(() => warnings().length > 0, 'the warning is logged')
      await tracker.flush()
      expect(warnings()).toEqual([
        expect.stringContaining('FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'),
      ])
      const found = await tracker.Queries.SwallowedExceptions.call()
      expect(found).toMatchObject({ is_counting: false, watched_files: 0, runtime: { supported: true } })
    })

    test('returns the swallowed exceptions of the current process', async () => {
      const storage = await freshStorage(database)
      const folder = project({ 'storm.mjs': STORM })
      const { stdout } = await run({ node, folder, args: storm(40, 0, 'query'), storage })
      expect(JSON.parse(stdout)).toEqual({ is_counting: true, watched_files: 1, rescue_count: 40, rescue_ratio: 1 })
    })

    test('does not retain swallowed errors', async () => {
      const storage = await freshStorage(database)
      const folder = project({ 'storm.mjs': STORM })
      const heap = async (count: number) => {
        const { stdout, code } = await run({ node, folder, args: ['--expose-gc', ...storm(count, 0, 'heap')], storage })
        expect(code).toBe(0)
        return Number(stdout)
      }
      // Retained sightings would take more than 10 MB.
      expect((await heap(100_000)) - (await heap(1000))).toBeLessThan(3_000_000)
      const { storm: counted } = await readCounts(storage.url, named)
      expect(counted).toMatchObject({ raised: 101_000, rescued: { 'storm empty': 101_000 } })
    })
  },
  { except: ['postgres', 'mysql'] },
)

function sumsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('sums-'))
}

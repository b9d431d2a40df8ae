import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, freshStorage, trackerAt } from '../../support/tracker.js'
import { hostFile, namesIn, project, REGISTER, readCounts, run } from './project.js'

const STORM = hostFile('storm.mjs')
const node = process.execPath
const named = namesIn('storm.mjs', STORM)
const storm = (...args: (string | number)[]) => ['--import', REGISTER, 'storm.mjs', ...args.map(String)]

describeEachDatabase('counts of swallowed exceptions', (database) => {
  test('counts of swallowed exceptions are spooled on exit and add up exactly in concurrent later processes', async () => {
    const storage = await freshStorage(database)
    const began = Date.now()
    const folder = project({ 'storm.mjs': STORM })
    const env = { FAULTBOARD_ENVIRONMENT: 'staging', FAULTBOARD_SWALLOWED_EXCEPTION_FLUSH_INTERVAL: '1' }
    expect(await run({ node, folder, args: storm(700, 0, 'exit'), storage, env })).toEqual({
      code: 4,
      stdout: '',
      stderr: '',
    })
    expect(await readCounts(storage.url, named)).toEqual({})
    expect(sumsIn(storage.spool_path)).toHaveLength(1)

    const ends = await Promise.all(
      ['', 'shutdown'].map((how) => run({ node, folder, args: storm(4000, 20, how), storage, env })),
    )
    expect(ends).toEqual(ends.map(() => ({ code: 0, stdout: '', stderr: '' })))
    expect(sumsIn(storage.spool_path)).toEqual([])
    expect(await readCounts(storage.url, named)).toEqual({
      storm: { error_type: 'RangeError', raised: 8700, reported: 0, rescued: { 'storm empty': 8700 } },
      reported: { error_type: 'TypeError', raised: 40, reported: 40, rescued: {} },
    })

    const { tracker, clock } = trackerAt(storage)
    clock.now = null
    const { SwallowedExceptions } = tracker.Queries
    const { locations } = await SwallowedExceptions.call({ environment: 'staging' })
    expect((await SwallowedExceptions.call({ environment: 'production' })).totals.raise_count).toBe(0)
    expect(locations.map(({ rescue_count }) => rescue_count)).toEqual([8700])
    expect(Date.parse(locations[0]?.last_seen_at ?? '')).toBeGreaterThanOrEqual(began)
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

    test('returns the swallowed exceptions of the current process without retaining their errors', async () => {
      const storage = await freshStorage(database)
      const folder = project({ 'storm.mjs': STORM })
      const args = ['--expose-gc', ...storm(1000, 0, 'heap', 50_000)]
      const { stdout, code } = await run({ node, folder, args, storage })
      expect(code).toBe(0)
      const { heap_growth, ...found } = JSON.parse(stdout)
      // Retained sightings would take more than 5 MB.
      expect(heap_growth).toBeLessThan(1_500_000)
      expect(found).toEqual({ is_counting: true, watched_files: 1, rescue_count: 51_000, rescue_ratio: 1 })
    })
  },
  { except: ['postgres', 'mysql'] },
)

function sumsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('sums-'))
}

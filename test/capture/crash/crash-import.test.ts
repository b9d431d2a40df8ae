import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, temporaryFolder } from '../../support/tracker.js'
import { countsAfterNextStart, filesIn, run, type Scene, setScene, start, waiting } from '../fixtures/deaths.js'

const ERRORS = 30

describeEachDatabase('the import of crash files', (database) => {
  test('records a crash once although ten processes start at once', async () => {
    const scene = await afterManyCrashes()
    await run('death', { how: 'out_of_memory', settings: scene.settings }, { node: ['--max-old-space-size=20'] })
    await run('death', { how: 'sigkill', settings: scene.settings })
    const settings = { ...scene.settings, detect_unclean_shutdown: true }
    const ends = await Promise.all(Array.from({ length: 10 }, () => run('boot', { settings, stays_ms: 500 })))
    expect(ends.map(({ code }) => code)).toEqual(Array(10).fill(0))
    expect(await countsAfterNextStart(scene, { crash_capture_path: scene.crash_path })).toEqual({
      RangeError: ERRORS,
      OutOfMemory: 1,
      UncleanShutdown: 1,
    })
    expect(filesIn(scene.crash_path)).toEqual([])
  }, 60_000)

  test('records a crash once although the import is killed', async () => {
    const scene = await afterManyCrashes()
    for (let left = ERRORS; left > 0; left -= 10) {
      const child = start('boot', { settings: scene.settings, stays_ms: 60_000 })
      await eventually(() => waiting(scene.crash_path).length < left, 'some files are imported')
      child.process.kill('SIGKILL')
      expect((await child.end).signal).toBe('SIGKILL')
    }
    const settings = { crash_capture_path: scene.crash_path, detect_unclean_shutdown: false }
    expect(await countsAfterNextStart(scene, settings)).toEqual({ RangeError: ERRORS })
  }, 60_000)

  test('waits for the database', async () => {
    const scene = await crashScene()
    const away = { ...scene.settings, database: 'sqlite:/dev/null/nowhere.sqlite3' }
    expect(await run('death', { how: 'timer_throw', settings: away })).toMatchObject({ code: 1 })
    await run('boot', { settings: away })
    expect(waiting(scene.crash_path)).toHaveLength(1)
    expect(await countsAfterNextStart(scene, { crash_capture_path: scene.crash_path })).toEqual({ OrderLost: 1 })
  })

  async function afterManyCrashes(): Promise<Scene> {
    const scene = await crashScene()
    const away = { ...scene.settings, database: 'sqlite:/dev/null/nowhere.sqlite3' }
    expect(await run('survive', { settings: away, errors: ERRORS })).toMatchObject({ code: 0 })
    expect(waiting(scene.crash_path)).toHaveLength(ERRORS)
    return scene
  }

  async function crashScene(): Promise<Scene> {
    const scene = await setScene(database)
    return { ...scene, settings: { ...scene.settings, crash_capture_path: scene.crash_path } }
  }
})

describeEachDatabase(
  'the traces of one death',
  (database) => {
    test('distinguishes processes with the same pid', async () => {
      const scene = await setScene(database)
      const crash = { crash_capture_path: scene.crash_path, detect_unclean_shutdown: true }
      mkdirSync(scene.crash_path, { mode: 0o700 })
      const hour = (n: number) => Date.parse('2026-01-01T00:00:00Z') + n * 3_600_000
      for (const n of [1, 2, 3]) {
        const facts = { pid: 1, hostname: hostname(), boot_id: 'an earlier one', started_at: hour(n) }
        writeFileSync(join(scene.crash_path, `running-1-${n}.json`), JSON.stringify(facts))
        if (n === 2) continue
        const report = join(scene.crash_path, `report.20260101.0${n}3000.1.0.001.json`)
        const header = { trigger: 'OOMError', event: 'heap out of memory', dumpEventTimeStamp: String(hour(n + 0.5)) }
        writeFileSync(report, JSON.stringify({ header }))
        utimesSync(report, new Date(hour(n + 0.5)), new Date(hour(n + 0.5)))
      }
      expect(await countsAfterNextStart(scene, crash)).toEqual({ OutOfMemory: 2, UncleanShutdown: 1 })
      expect(filesIn(scene.crash_path)).toEqual([])
    })

    test('counts leftovers once although they are found again', async () => {
      const scene = await setScene(database)
      const settings = { ...scene.settings, crash_capture_path: scene.crash_path, detect_unclean_shutdown: true }
      await run('death', { how: 'out_of_memory', settings }, { node: ['--max-old-space-size=20'] })
      const copies = temporaryFolder()
      for (const name of filesIn(scene.crash_path)) copyFileSync(join(scene.crash_path, name), join(copies, name))
      const report = filesIn(copies).filter((name) => name.startsWith('report.'))
      const marker = filesIn(copies).filter((name) => name.startsWith('running-'))
      expect([report.length, marker.length]).toEqual([1, 1])
      // As a process leaves them that is killed after the error is safe, at any of the steps that follow.
      for (const left of [[...report, ...marker], marker, [...report, ...marker]]) {
        const more = { crash_capture_path: scene.crash_path, detect_unclean_shutdown: true }
        expect(await countsAfterNextStart(scene, more)).toEqual({ OutOfMemory: 1 })
        mkdirSync(scene.crash_path, { recursive: true, mode: 0o700 })
        for (const name of left) copyFileSync(join(copies, name), join(scene.crash_path, name))
      }
    })
  },
  { except: ['postgres', 'mysql'] },
)

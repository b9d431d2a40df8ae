import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { CREDENTIALS, eventually, temporaryFolder } from '../../support/tracker.js'
import {
  type CrashSetup,
  countsAfterNextStart,
  createSetup,
  filesIn,
  pendingFiles,
  run,
  start,
} from '../fixtures/child-processes.js'

const ERRORS = 20
const STARTS = 5
const UNREACHABLE = 'sqlite:/dev/null/nowhere.sqlite3'

/** Folder with the files of many crashes. They do not depend on the database, so all tests copy one folder. */
let manyCrashes: string | undefined
afterAll(() => manyCrashes && rmSync(manyCrashes, { recursive: true, force: true }))

describeEachDatabase('import of crash files', (database) => {
  test('records a crash once even if several processes start at the same time', async () => {
    const setup = await afterManyCrashes()
    const settings = { ...setup.settings, detect_unclean_shutdown: true }
    const ends = await Promise.all(Array.from({ length: STARTS }, () => run('boot', { settings, wait_ms: 500 })))
    expect(ends.map(({ code }) => code)).toEqual(Array(STARTS).fill(0))
    expect(await countsAfterNextStart(setup, { crash_capture_path: setup.crash_path })).toEqual({
      RangeError: ERRORS,
      OutOfMemory: 1,
      UncleanShutdown: 1,
    })
    expect(filesIn(setup.crash_path)).toEqual([])
  }, 60_000)

  test('records a crash once even if the import is killed', async () => {
    const setup = await afterManyCrashes()
    for (let remaining = ERRORS; remaining > 0; remaining -= 10) {
      const child = start('boot', { settings: setup.settings, wait_ms: 60_000 })
      await eventually(() => pendingFiles(setup.crash_path).length < remaining, 'some files are imported')
      child.process.kill('SIGKILL')
      expect((await child.end).signal).toBe('SIGKILL')
    }
    const settings = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: false }
    expect(await countsAfterNextStart(setup, settings)).toEqual({ RangeError: ERRORS, OutOfMemory: 1 })
  }, 60_000)

  async function afterManyCrashes(): Promise<CrashSetup> {
    const setup = await crashSetup(database)
    cpSync(await folderOfManyCrashes(), setup.crash_path, { recursive: true, preserveTimestamps: true })
    return setup
  }
})

async function folderOfManyCrashes(): Promise<string> {
  if (manyCrashes) return manyCrashes
  const folder = join(mkdtempSync(join(tmpdir(), 'faultboard-crashes-')), 'crashes')
  const settings = { ...CREDENTIALS, application_name: 'shop', database: UNREACHABLE, crash_capture_path: folder }
  expect(await run('survive', { settings, errors: ERRORS })).toMatchObject({ code: 0 })
  expect(pendingFiles(folder)).toHaveLength(ERRORS)
  await run('exit', { how: 'out_of_memory', settings }, { node: ['--max-old-space-size=20'] })
  await run('exit', { how: 'sigkill', settings })
  manyCrashes = folder
  return folder
}

async function crashSetup(database: TestDatabase): Promise<CrashSetup> {
  const setup = await createSetup(database)
  return { ...setup, settings: { ...setup.settings, crash_capture_path: setup.crash_path } }
}

describeEachDatabase(
  'traces of one crash',
  (database) => {
    test('waits for the database', async () => {
      const setup = await crashSetup(database)
      const unreachable = { ...setup.settings, database: UNREACHABLE }
      expect(await run('exit', { how: 'timer_throw', settings: unreachable })).toMatchObject({ code: 1 })
      await run('boot', { settings: unreachable })
      expect(pendingFiles(setup.crash_path)).toHaveLength(1)
      expect(await countsAfterNextStart(setup, { crash_capture_path: setup.crash_path })).toEqual({ OrderLost: 1 })
    })

    test('distinguishes processes with the same pid', async () => {
      const setup = await createSetup(database)
      const crash = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
      mkdirSync(setup.crash_path, { mode: 0o700 })
      const hour = (n: number) => Date.parse('2026-01-01T00:00:00Z') + n * 3_600_000
      for (const n of [1, 2, 3]) {
        const facts = { pid: 1, hostname: hostname(), boot_id: 'an earlier one', started_at: hour(n) }
        writeFileSync(join(setup.crash_path, `running-1-${n}.json`), JSON.stringify(facts))
        if (n === 2) continue
        const report = join(setup.crash_path, `report.20260101.0${n}3000.1.0.001.json`)
        const header = { trigger: 'OOMError', event: 'heap out of memory', dumpEventTimeStamp: String(hour(n + 0.5)) }
        writeFileSync(report, JSON.stringify({ header }))
        utimesSync(report, new Date(hour(n + 0.5)), new Date(hour(n + 0.5)))
      }
      expect(await countsAfterNextStart(setup, crash)).toEqual({ OutOfMemory: 2, UncleanShutdown: 1 })
      expect(filesIn(setup.crash_path)).toEqual([])
    })

    test('counts leftovers once even if they are found again', async () => {
      const setup = await createSetup(database)
      const settings = { ...setup.settings, crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
      await run('exit', { how: 'out_of_memory', settings }, { node: ['--max-old-space-size=20'] })
      const copies = temporaryFolder()
      for (const name of filesIn(setup.crash_path)) copyFileSync(join(setup.crash_path, name), join(copies, name))
      const report = filesIn(copies).filter((name) => name.startsWith('report.'))
      const marker = filesIn(copies).filter((name) => name.startsWith('running-'))
      expect([report.length, marker.length]).toEqual([1, 1])
      // A process that is killed at any step after the error is stored leaves these files.
      for (const remaining of [[...report, ...marker], marker, [...report, ...marker]]) {
        const more = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
        expect(await countsAfterNextStart(setup, more)).toEqual({ OutOfMemory: 1 })
        mkdirSync(setup.crash_path, { recursive: true, mode: 0o700 })
        for (const name of remaining) copyFileSync(join(copies, name), join(setup.crash_path, name))
      }
    })
  },
  { except: ['postgres', 'mysql'] },
)

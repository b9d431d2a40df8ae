import { describe, expect, test } from 'vitest'
import { builtInSqlite } from '../../../src/store/dialects/sqlite-library.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { trackerAt } from '../../support/tracker.js'
import { countsAfterNextStart, createSetup, run, runUntracked } from '../fixtures/child-processes.js'

const hasSqliteLimit = builtInSqlite() === null

describeOneDatabase('errors that end a worker thread', (database) => {
  for (const listens of [true, false]) {
    const host = listens ? 'a host with an error listener' : 'a host without an error listener'

    test(`records the error in ${host}`, async () => {
      const setup = await createSetup(database)
      const input = { how: 'throw', listens }
      const untracked = await runUntracked('worker-host', input)
      expect(await run('worker-host', { ...input, settings: setup.settings })).toEqual(untracked)
      expect(untracked.code).toBe(listens ? 0 : 1)
      // The main thread receives a copy without its class.
      expect(Object.values(await countsAfterNextStart(setup))).toEqual([1])
      const { tracker } = trackerAt(setup)
      const [error] = await tracker.Queries.ErrorsList.call()
      expect(error?.message).toBe('lost a thread')
      const found = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
      expect(JSON.stringify(found)).toMatch(/"thread_id":\d/)
    })

    test(`records the error once in ${host} with a tracker in the thread`, async () => {
      const setup = await createSetup(database)
      const input = { how: 'throw', listens }
      const untracked = await runUntracked('worker-host', input)
      const { settings } = setup
      expect(await run('worker-host', { ...input, settings, inner_settings: settings })).toEqual(untracked)
      expect(await countsAfterNextStart(setup)).toEqual({ ThreadLost: 1 })
    })

    test(`records the error once in ${host} with crash capture in both`, async () => {
      const setup = await createSetup(database)
      const crash = { crash_capture_path: setup.crash_path }
      const settings = { ...setup.settings, ...crash }
      await run('worker-host', { how: 'throw', listens, settings, inner_settings: settings })
      expect(await countsAfterNextStart(setup, crash)).toEqual({ ThreadLost: 1 })
    })

    for (const hasInnerTracker of [true, false]) {
      test(`records a thrown string once in ${host} with a tracker in the thread: ${hasInnerTracker}`, async () => {
        const setup = await createSetup(database)
        const { settings } = setup
        const input = { how: 'throw_a_string', listens }
        const untracked = await runUntracked('worker-host', input)
        expect(
          await run('worker-host', { ...input, settings, inner_settings: hasInnerTracker ? settings : null }),
        ).toEqual(untracked)
        expect(await countsAfterNextStart(setup)).toEqual({ string: 1 })
      })
    }
  }

  test('records the error if only the thread has a tracker', async () => {
    const setup = await createSetup(database)
    await run('worker-host', { how: 'throw', listens: true, inner_settings: setup.settings })
    expect(await countsAfterNextStart(setup)).toEqual({ ThreadLost: 1 })
  })

  test('records the error in the main thread if the thread runs out of memory', async () => {
    const setup = await createSetup(database)
    const { settings } = setup
    const end = await run('worker-host', { how: 'out_of_memory', listens: true, settings, inner_settings: settings })
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('memory') })
    expect(Object.values(await countsAfterNextStart(setup))).toEqual([1])
  })

  for (const how of ['log', 'log_and_exit']) {
    test(`writes errors of a thread (${how}) to the database while the process continues`, async () => {
      const { settings } = await createSetup(database)
      const end = await run('worker-host', { how, settings, inner_settings: settings, waits_for: 'ThreadLost' })
      expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('found ThreadLost') })
    })
  }
})

describe.runIf(hasSqliteLimit)('embedded SQLite', () => {
  describeEachDatabase(
    'without node:sqlite',
    (database) => {
      test('rejects queries in a worker thread with instructions', async () => {
        const { settings } = await createSetup(database)
        const end = await run('worker-host', { how: 'query', settings, inner_settings: settings })
        expect(end.stdout).toContain('Run this in the main thread')
      })
    },
    { except: ['postgres', 'mysql'] },
  )
})

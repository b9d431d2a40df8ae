import { describe, expect, test } from 'vitest'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { trackerAt } from '../../support/tracker.js'
import { countsAfterNextStart, run, runAlone, setScene } from '../fixtures/deaths.js'

const leaves_sqlite_alone = Number(process.versions.node.split('.')[0]) < 24

describeOneDatabase('an error that ends a worker thread', (database) => {
  for (const listens of [true, false]) {
    const host = listens ? 'a host that listens' : 'a host that does not listen, and dies of it'

    test(`is recorded by ${host}`, async () => {
      const scene = await setScene(database)
      const orders = { how: 'throw', listens }
      const alone = await runAlone('worker-host', orders)
      expect(await run('worker-host', { ...orders, settings: scene.settings })).toEqual(alone)
      expect(alone.code).toBe(listens ? 0 : 1)
      // A copy arrives in the main thread, which has lost its class.
      expect(Object.values(await countsAfterNextStart(scene))).toEqual([1])
      const { tracker } = trackerAt(scene)
      const [error] = await tracker.Queries.ErrorsList.call()
      expect(error?.message).toBe('lost a thread')
      const found = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
      expect(JSON.stringify(found)).toMatch(/"thread_id":\d/)
    })

    test(`is recorded once by ${host} when the thread has a tracker of its own`, async () => {
      const scene = await setScene(database)
      const orders = { how: 'throw', listens }
      const alone = await runAlone('worker-host', orders)
      const { settings } = scene
      expect(await run('worker-host', { ...orders, settings, inside: settings })).toEqual(alone)
      expect(await countsAfterNextStart(scene)).toEqual({ ThreadLost: 1 })
    })

    test(`is recorded once by ${host} with crash capture in both`, async () => {
      const scene = await setScene(database)
      const crash = { crash_capture_path: scene.crash_path }
      const settings = { ...scene.settings, ...crash }
      await run('worker-host', { how: 'throw', listens, settings, inside: settings })
      expect(await countsAfterNextStart(scene, crash)).toEqual({ ThreadLost: 1 })
    })

    for (const inside of [true, false]) {
      test(`is recorded once by ${host} when it is a string, with a tracker in the thread: ${inside}`, async () => {
        const scene = await setScene(database)
        const { settings } = scene
        const orders = { how: 'throw_a_string', listens }
        const alone = await runAlone('worker-host', orders)
        expect(await run('worker-host', { ...orders, settings, inside: inside ? settings : null })).toEqual(alone)
        expect(await countsAfterNextStart(scene)).toEqual({ string: 1 })
      })
    }
  }

  test('is recorded when only the thread has a tracker', async () => {
    const scene = await setScene(database)
    await run('worker-host', { how: 'throw', listens: true, inside: scene.settings })
    expect(await countsAfterNextStart(scene)).toEqual({ ThreadLost: 1 })
  })

  test('is recorded by the main thread when the thread has run out of memory', async () => {
    const scene = await setScene(database)
    const { settings } = scene
    const end = await run('worker-host', { how: 'out_of_memory', listens: true, settings, inside: settings })
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('memory') })
    expect(Object.values(await countsAfterNextStart(scene))).toEqual([1])
  })

  for (const how of ['log', 'log_and_exit']) {
    test(`and what a thread has recorded (${how}) is in the database while the process goes on`, async () => {
      const { settings } = await setScene(database)
      const end = await run('worker-host', { how, settings, inside: settings, waits_for: 'ThreadLost' })
      expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('found ThreadLost') })
    })
  }
})

describe.runIf(leaves_sqlite_alone)('the embedded SQLite', () => {
  describeEachDatabase(
    'below Node.js 24',
    (database) => {
      test('is not queried from a worker thread, which logs a warning', async () => {
        const { settings } = await setScene(database)
        const end = await run('worker-host', { how: 'ask', settings, inside: settings })
        expect(end.stdout).toContain('Run this in the main thread')
      })
    },
    { except: ['postgres', 'mysql'] },
  )
})

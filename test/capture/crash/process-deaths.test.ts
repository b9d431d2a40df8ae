import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { countsAfterNextStart, dieTwice, filesIn, setScene } from '../fixtures/deaths.js'

/** How the process ends, and what is recorded of it; with crash capture, an exit with a failure is an error too. */
const DEATHS: Record<
  string,
  { exit: number; counts: Record<string, number>; with_crash_capture?: Record<string, number> }
> = {
  sync_throw: { exit: 1, counts: { OrderLost: 1 } },
  timer_throw: { exit: 1, counts: { OrderLost: 1 } },
  rejection: { exit: 1, counts: { OrderLost: 1 } },
  string: { exit: 1, counts: { string: 1 } },
  null: { exit: 1, counts: { null: 1 } },
  frozen: { exit: 1, counts: { OrderLost: 1 } },
  proxy: { exit: 1, counts: { Proxy: 1 } },
  overflow: { exit: 1, counts: { RangeError: 1 } },
  exit_listener: { exit: 1, counts: { OrderLost: 1 } },
  exit_listener_before: { exit: 1, counts: { OrderLost: 1 } },
  exit_0: { exit: 0, counts: {} },
  exit_1: { exit: 1, counts: {}, with_crash_capture: { ProcessExit: 1 } },
  exit_143: { exit: 143, counts: {} },
  exit_code_3: { exit: 3, counts: {}, with_crash_capture: { ProcessExit: 1 } },
  natural: { exit: 0, counts: {} },
  lives_on: { exit: 0, counts: { OrderLost: 1 } },
  exits_9: { exit: 9, counts: { OrderLost: 1 } },
  handler_throws: { exit: 7, counts: { OrderLost: 1 } },
  exit_listener_logs: { exit: 0, counts: { OrderLost: 1 } },
  capture_callback: { exit: 0, counts: { OrderLost: 1 } },
  rejection_listener: { exit: 0, counts: { OrderLost: 1 } },
  rejection_listener_exits: { exit: 4, counts: { OrderLost: 1 } },
  rejection_listener_once: { exit: 1, counts: { OrderLost: 2 } },
  reported_and_exited: { exit: 1, counts: { OrderLost: 1 } },
  reported_awaited_and_exited: { exit: 1, counts: { OrderLost: 1 } },
  sigterm_handled: { exit: 0, counts: {} },
}

describeEachDatabase(
  'a process that ends',
  (database) => {
    for (const [how, { exit, counts, with_crash_capture = counts }] of Object.entries(DEATHS)) {
      test(`by ${how} does so as without a tracker, and leaves what was thrown exactly once`, async () => {
        const scene = await setScene(database)
        expect(await dieTwice(how, scene.settings)).toMatchObject({ code: exit })
        expect(await countsAfterNextStart(scene)).toEqual(counts)
      })

      test(`by ${how} with crash capture, too`, async () => {
        const scene = await setScene(database)
        const crash = { crash_capture_path: scene.crash_path }
        expect(await dieTwice(how, { ...scene.settings, ...crash })).toMatchObject({ code: exit })
        expect(filesIn(scene.crash_path).filter((name) => name.startsWith('running-'))).toEqual([])
        expect(await countsAfterNextStart(scene, crash)).toEqual(with_crash_capture)
      })
    }

    for (const [mode, code, recorded] of [
      ['throw', 1, 1],
      ['strict', 1, 1],
      ['warn', 0, 0],
      ['none', 0, 0],
    ] as const) {
      test(`after a rejection, with --unhandled-rejections=${mode}, does what that says`, async () => {
        const scene = await setScene(database)
        const end = await dieTwice('rejection', scene.settings, [`--unhandled-rejections=${mode}`])
        expect(end).toMatchObject({ code })
        expect(await countsAfterNextStart(scene)).toEqual(recorded ? { OrderLost: recorded } : {})
      })
    }

    test('counts a rejection once that is reported in two ways', async () => {
      const scene = await setScene(database)
      const how = 'rejection_of_a_string_taken_both_ways'
      const { stdout } = await dieTwice(how, scene.settings, ['--unhandled-rejections=strict'])
      expect(stdout).toContain('as an exception\ntook it as a rejection')
      expect(await countsAfterNextStart(scene)).toEqual({ UnhandledPromiseRejection: 1 })
    })

    test('records an error once with async_logging', async () => {
      const scene = await setScene(database, { async_logging: true })
      await dieTwice('timer_throw', scene.settings)
      await dieTwice('lives_on', scene.settings)
      await dieTwice('exits_9', scene.settings)
      expect(await countsAfterNextStart(scene)).toEqual({ OrderLost: 3 })
    })

    test('leaves everything alone when the subscriber is off', async () => {
      const scene = await setScene(database, { enable_error_subscriber: false })
      await dieTwice('timer_throw', scene.settings)
      expect(await countsAfterNextStart(scene)).toEqual({})
    })
  },
  { except: ['postgres', 'mysql'] },
)

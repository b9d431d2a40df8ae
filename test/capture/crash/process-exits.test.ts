import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { countsAfterNextStart, createSetup, filesIn, runTrackedAndUntracked } from '../fixtures/child-processes.js'

/** Thrown values and exits that differ only in how an error is described. Tested with crash capture only. */
const DESCRIBED_EXITS = [
  'timer_throw',
  'string',
  'null',
  'frozen',
  'proxy',
  'exit_0',
  'exit_143',
  'empty_event_loop',
  'sigterm_handled',
]

/** Exit code and recorded errors by kind of exit. With crash capture, a failing exit is an error too. */
const EXITS: Record<
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
  empty_event_loop: { exit: 0, counts: {} },
  survives: { exit: 0, counts: { OrderLost: 1 } },
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
  'process exits',
  (database) => {
    for (const [how, { exit, counts, with_crash_capture = counts }] of Object.entries(EXITS)) {
      if (!DESCRIBED_EXITS.includes(how)) {
        test(`does not change an exit by ${how} and records its error once`, async () => {
          const setup = await createSetup(database)
          expect(await runTrackedAndUntracked(how, setup.settings)).toMatchObject({ code: exit })
          expect(await countsAfterNextStart(setup)).toEqual(counts)
        })
      }

      test(`does not change an exit by ${how} with crash capture and records its error once`, async () => {
        const setup = await createSetup(database)
        const crash = { crash_capture_path: setup.crash_path }
        expect(await runTrackedAndUntracked(how, { ...setup.settings, ...crash })).toMatchObject({ code: exit })
        expect(filesIn(setup.crash_path).filter((name) => name.startsWith('running-'))).toEqual([])
        expect(await countsAfterNextStart(setup, crash)).toEqual(with_crash_capture)
      })
    }

    for (const [mode, code, recorded] of [
      // The default is `throw`, which the exits above test.
      ['strict', 1, 1],
      ['warn', 0, 0],
      ['none', 0, 0],
    ] as const) {
      test(`respects --unhandled-rejections=${mode}`, async () => {
        const setup = await createSetup(database)
        const end = await runTrackedAndUntracked('rejection', setup.settings, [`--unhandled-rejections=${mode}`])
        expect(end).toMatchObject({ code })
        expect(await countsAfterNextStart(setup)).toEqual(recorded ? { OrderLost: recorded } : {})
      })
    }

    test('counts a rejection once even if it is reported in two ways', async () => {
      const setup = await createSetup(database)
      const how = 'string_rejection_handled_twice'
      const { stdout } = await runTrackedAndUntracked(how, setup.settings, ['--unhandled-rejections=strict'])
      expect(stdout).toContain('as an exception\nhandled it as a rejection')
      expect(await countsAfterNextStart(setup)).toEqual({ UnhandledPromiseRejection: 1 })
    })

    test('records an error once with async_logging', async () => {
      const setup = await createSetup(database, { async_logging: true })
      await runTrackedAndUntracked('timer_throw', setup.settings)
      await runTrackedAndUntracked('survives', setup.settings)
      await runTrackedAndUntracked('exits_9', setup.settings)
      expect(await countsAfterNextStart(setup)).toEqual({ OrderLost: 3 })
    })

    test('records nothing with enable_error_subscriber off', async () => {
      const setup = await createSetup(database, { enable_error_subscriber: false })
      await runTrackedAndUntracked('timer_throw', setup.settings)
      expect(await countsAfterNextStart(setup)).toEqual({})
    })
  },
  { except: ['postgres', 'mysql'] },
)

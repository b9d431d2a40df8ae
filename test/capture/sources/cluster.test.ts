import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { trackerAt } from '../../support/tracker.js'
import { countsAfterNextStart, createSetup, filesIn, run, runUntracked } from '../fixtures/child-processes.js'

const EXITS: readonly { kind: string; how: string; ending: string; counts: Record<string, number> }[] = [
  { kind: 'cluster', how: 'sigkill', ending: 'SIGKILL', counts: { WorkerKilled: 1 } },
  { kind: 'cluster', how: 'sigsegv', ending: 'SIGSEGV', counts: { WorkerKilled: 1 } },
  { kind: 'cluster', how: 'sigterm', ending: 'SIGTERM', counts: {} },
  { kind: 'cluster', how: 'killed_by_host', ending: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'worker_kill', ending: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'disconnect', ending: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'throw', ending: '1', counts: { RangeError: 1 } },
  { kind: 'fork', how: 'sigkill', ending: 'SIGKILL', counts: { ChildProcessKilled: 1 } },
  { kind: 'fork', how: 'sigterm', ending: 'SIGTERM', counts: {} },
  { kind: 'fork', how: 'killed_by_host', ending: 'SIGKILL', counts: {} },
  { kind: 'fork', how: 'throw', ending: '1', counts: { RangeError: 1 } },
  { kind: 'spawn', how: 'sigkill', ending: 'SIGKILL', counts: {} },
]

describeEachDatabase(
  'child processes',
  (database) => {
    for (const { kind, how, ending, counts } of EXITS) {
      test(`records ${JSON.stringify(counts)} for a ${kind} process that ends by ${how}`, async () => {
        const setup = await createSetup(database)
        const untracked = await runUntracked('cluster-host', { kind, how })
        expect(
          await run('cluster-host', { kind, how, settings: setup.settings, inner_settings: setup.settings }),
        ).toEqual(untracked)
        expect(untracked).toMatchObject({ code: 0, stdout: `a member ended with ${ending}\n` })
        expect(await countsAfterNextStart(setup)).toEqual(counts)
      })
    }

    test('records the worker and the signal', async () => {
      const setup = await createSetup(database)
      await run('cluster-host', { kind: 'cluster', how: 'sigsegv', settings: setup.settings })
      const { tracker } = trackerAt(setup)
      await tracker.ready()
      const [error] = await tracker.Queries.ErrorsList.call()
      const found = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
      expect(error?.message).toBe('A cluster worker was killed by SIGSEGV')
      expect(JSON.stringify(found)).toMatch(/"worker_id":1/)
    })

    test('does not record a killed worker again as an unclean shutdown', async () => {
      const setup = await createSetup(database)
      const crash = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
      const settings = { ...setup.settings, ...crash }
      await run('cluster-host', { kind: 'cluster', how: 'sigkill', settings, inner_settings: settings })
      expect(filesIn(setup.crash_path)).toEqual([])
      expect(await countsAfterNextStart(setup, crash)).toEqual({ WorkerKilled: 1 })
    })

    test('records a child process that ran out of memory immediately', async () => {
      const setup = await createSetup(database)
      const crash = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
      const settings = { ...setup.settings, ...crash }
      await run('cluster-host', { kind: 'fork', how: 'out_of_memory', settings, inner_settings: settings })
      expect(filesIn(setup.crash_path)).toEqual([])
      expect(await countsAfterNextStart(setup, crash)).toEqual({ OutOfMemory: 1 })
    })
  },
  { except: ['postgres', 'mysql'] },
)

import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { trackerAt } from '../../support/tracker.js'
import { countsAfterNextStart, filesIn, run, runAlone, setScene } from '../fixtures/deaths.js'

const ENDS: readonly { kind: string; how: string; says: string; counts: Record<string, number> }[] = [
  { kind: 'cluster', how: 'sigkill', says: 'SIGKILL', counts: { WorkerKilled: 1 } },
  { kind: 'cluster', how: 'sigsegv', says: 'SIGSEGV', counts: { WorkerKilled: 1 } },
  { kind: 'cluster', how: 'sigterm', says: 'SIGTERM', counts: {} },
  { kind: 'cluster', how: 'killed_by_host', says: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'worker_kill', says: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'disconnect', says: 'SIGKILL', counts: {} },
  { kind: 'cluster', how: 'throw', says: '1', counts: { RangeError: 1 } },
  { kind: 'fork', how: 'sigkill', says: 'SIGKILL', counts: { ChildProcessKilled: 1 } },
  { kind: 'fork', how: 'sigterm', says: 'SIGTERM', counts: {} },
  { kind: 'fork', how: 'killed_by_host', says: 'SIGKILL', counts: {} },
  { kind: 'fork', how: 'throw', says: '1', counts: { RangeError: 1 } },
  { kind: 'spawn', how: 'sigkill', says: 'SIGKILL', counts: {} },
]

describeEachDatabase(
  'a process that another has started',
  (database) => {
    for (const { kind, how, says, counts } of ENDS) {
      test(`(${kind}) and that ends by ${how} is recorded as ${JSON.stringify(counts)}`, async () => {
        const scene = await setScene(database)
        const alone = await runAlone('cluster-host', { kind, how })
        expect(await run('cluster-host', { kind, how, settings: scene.settings, inside: scene.settings })).toEqual(
          alone,
        )
        expect(alone).toMatchObject({ code: 0, stdout: `a member ended with ${says}\n` })
        expect(await countsAfterNextStart(scene)).toEqual(counts)
      })
    }

    test('names the worker and the signal', async () => {
      const scene = await setScene(database)
      await run('cluster-host', { kind: 'cluster', how: 'sigsegv', settings: scene.settings })
      const { tracker } = trackerAt(scene)
      await tracker.ready()
      const [error] = await tracker.Queries.ErrorsList.call()
      const found = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
      expect(error?.message).toBe('A cluster worker was killed by SIGSEGV')
      expect(JSON.stringify(found)).toMatch(/"worker_id":1/)
    })

    test('is not recorded a second time as an unclean shutdown', async () => {
      const scene = await setScene(database)
      const crash = { crash_capture_path: scene.crash_path, detect_unclean_shutdown: true }
      const settings = { ...scene.settings, ...crash }
      await run('cluster-host', { kind: 'cluster', how: 'sigkill', settings, inside: settings })
      expect(filesIn(scene.crash_path)).toEqual([])
      expect(await countsAfterNextStart(scene, crash)).toEqual({ WorkerKilled: 1 })
    })

    test('is known at once to have run out of memory', async () => {
      const scene = await setScene(database)
      const crash = { crash_capture_path: scene.crash_path, detect_unclean_shutdown: true }
      const settings = { ...scene.settings, ...crash }
      await run('cluster-host', { kind: 'fork', how: 'out_of_memory', settings, inside: settings })
      expect(filesIn(scene.crash_path)).toEqual([])
      expect(await countsAfterNextStart(scene, crash)).toEqual({ OutOfMemory: 1 })
    })
  },
  { except: ['postgres', 'mysql'] },
)

import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { trackerAt } from '../../support/tracker.js'
import { countsAfterNextStart, createSetup, filesIn, run, runUntracked } from '../fixtures/child-processes.js'

interface Member {
  kind: 'cluster' | 'fork' | 'spawn'
  how: string
  ending: string
}

/** Members of one host each, so that no recorded member hides that another is missing. */
const HOSTS: readonly { title: string; members: readonly Member[]; counts: Record<string, number> }[] = [
  {
    title: 'killed and failed cluster workers',
    members: [
      { kind: 'cluster', how: 'sigkill', ending: 'SIGKILL' },
      { kind: 'cluster', how: 'sigsegv', ending: 'SIGSEGV' },
      { kind: 'cluster', how: 'throw', ending: '1' },
    ],
    counts: {
      'A cluster worker was killed by SIGKILL': 1,
      'A cluster worker was killed by SIGSEGV': 1,
      'lost in a member': 1,
    },
  },
  {
    title: 'killed and failed child processes',
    members: [
      { kind: 'fork', how: 'sigkill', ending: 'SIGKILL' },
      { kind: 'fork', how: 'throw', ending: '1' },
    ],
    counts: { 'A forked process was killed by SIGKILL': 1, 'lost in a member': 1 },
  },
  {
    title: 'processes that the host ends and processes without Node.js',
    members: [
      { kind: 'cluster', how: 'sigterm', ending: 'SIGTERM' },
      { kind: 'cluster', how: 'killed_by_host', ending: 'SIGKILL' },
      { kind: 'cluster', how: 'worker_kill', ending: 'SIGKILL' },
      { kind: 'cluster', how: 'disconnect', ending: 'SIGKILL' },
      { kind: 'fork', how: 'sigterm', ending: 'SIGTERM' },
      { kind: 'fork', how: 'killed_by_host', ending: 'SIGKILL' },
      { kind: 'spawn', how: 'sigkill', ending: 'SIGKILL' },
    ],
    counts: {},
  },
]

describeEachDatabase(
  'child processes',
  (database) => {
    for (const { title, members, counts } of HOSTS) {
      test(`records ${JSON.stringify(counts)} for ${title}`, async () => {
        const setup = await createSetup(database)
        const { settings } = setup
        const [untracked, tracked] = await Promise.all([
          runUntracked('cluster-host', { members }),
          run('cluster-host', { members, settings, inner_settings: settings }),
        ])
        expect(tracked).toEqual(untracked)
        const lines = members.map(({ kind, how, ending }) => `a ${kind} member ended by ${how} with ${ending}\n`)
        expect(untracked).toMatchObject({ code: 0, stdout: lines.join('') })
        await countsAfterNextStart(setup)
        const { tracker } = trackerAt(setup)
        const errors = await tracker.Queries.ErrorsList.call()
        expect(Object.fromEntries(errors.map(({ message, occurrence_count }) => [message, occurrence_count]))).toEqual(
          counts,
        )
      }, 120_000)
    }

    test('records the worker and the signal', async () => {
      const setup = await createSetup(database)
      await run('cluster-host', { members: [{ kind: 'cluster', how: 'sigsegv' }], settings: setup.settings })
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
      await run('cluster-host', { members: [{ kind: 'cluster', how: 'sigkill' }], settings, inner_settings: settings })
      expect(filesIn(setup.crash_path)).toEqual([])
      expect(await countsAfterNextStart(setup, crash)).toEqual({ WorkerKilled: 1 })
    })

    test('records a child process that ran out of memory immediately', async () => {
      const setup = await createSetup(database)
      const crash = { crash_capture_path: setup.crash_path, detect_unclean_shutdown: true }
      const settings = { ...setup.settings, ...crash }
      await run('cluster-host', {
        members: [{ kind: 'fork', how: 'out_of_memory' }],
        settings,
        inner_settings: settings,
      })
      expect(filesIn(setup.crash_path)).toEqual([])
      expect(await countsAfterNextStart(setup, crash)).toEqual({ OutOfMemory: 1 })
    })
  },
  { except: ['postgres', 'mysql'] },
)

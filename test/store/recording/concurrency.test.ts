import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import { describeEachDatabase } from '../../support/databases.js'
import { runChild, startChild } from '../../support/processes/children.js'
import { sums, verifiedCounts } from '../../support/stored-counts.js'
import { CREDENTIALS, eventually, freshStorage, trackerAt } from '../../support/tracker.js'

const EVENTS = 400
/** Concurrent processes. Both modes of logging write to the same groups. */
const PROCESSES = [
  { application_name: 'shop', async_logging: false },
  { application_name: 'shop', async_logging: true },
  { application_name: 'shop', async_logging: false },
  { application_name: 'billing', async_logging: true },
]

describeEachDatabase('processes that record concurrently', (database) => {
  test('several processes count every error exactly once, with and without async_logging', {
    timeout: 120_000,
  }, async () => {
    const { url, spool_path } = await freshStorage(database)
    const plans = PROCESSES.map((settings, process) => ({ ...settings, events: eventsOf(process) }))
    const summaries = await Promise.all(
      plans.map(({ application_name, async_logging, events }) =>
        runChild<Summary>('record', {
          settings: { ...CREDENTIALS, database: url, spool_path, application_name, async_logging },
          events,
        }),
      ),
    )
    for (const summary of summaries) {
      expect(summary).toMatchObject({ nulls: 0, rejected: 0 })
      expect(sums(Object.values(summary.states), () => 'all', Number)).toEqual({ all: EVENTS })
    }
    const { spool } = await trackerAt({ url, spool_path }).tracker.stats()
    expect(spool).toMatchObject({ files: 0, failed: 0, bytes: 0 })

    const counts = await verifiedCounts(url)
    const all = plans.flatMap(({ application_name, events }) => events.map((event) => ({ ...event, application_name })))
    expect(counts.counts).toEqual(
      sums(all, ({ application_name, error_type }) => `${application_name} ${error_type}`, countOne),
    )
    expect(counts.users).toEqual(sums(all, ({ error_type, user_id }) => `${error_type} ${user_id}`, countOne))
  })

  test('two processes that record the same new error create one record with count 2', async () => {
    const storage = await freshStorage(database)
    const trackers = [trackerAt(storage), trackerAt(storage)]
    await Promise.all(trackers.map(({ tracker }) => tracker.ready()))
    for (let round = 0; round < 20; round++) {
      const event = { error_type: `Meeting${round}`, message: 'at the same instant' }
      const logged = await Promise.all(trackers.map(({ tracker }) => tracker.Commands.LogError.call(event)))
      expect(logged.map((record) => record?.occurrence_count).sort()).toEqual([1, 2])
      expect(logged.filter((record) => record?.is_new)).toHaveLength(1)
      expect(logged[0]?.id).toBe(logged[1]?.id)
    }
    const { counts } = await verifiedCounts(storage.url)
    expect(Object.values(counts)).toEqual(Array(20).fill(2))
  })

  test('every caller receives the occurrence number of its own error', async () => {
    const { tracker } = trackerAt(await freshStorage(database))
    const event = { error_type: 'Numbered', message: 'one of many' }
    // More callers than the tracker settles per event loop iteration.
    const callers = 1200
    const logged = await Promise.all(Array.from({ length: callers }, () => tracker.Commands.LogError.call(event)))
    expect(logged.map((record) => record?.occurrence_count)).toEqual(Array.from({ length: callers }, (_, i) => i + 1))
  })
})

describeEachDatabase('a process that is killed during a storm', (database) => {
  test('every acknowledged error counts exactly once, with and without async_logging', async () => {
    const storage = await freshStorage(database)
    const handed = new Set<string>()
    const settled = new Set<string>()
    for (const async_logging of [false, true]) {
      const child = startChild('record', {
        settings: { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, async_logging },
        events: Array.from({ length: 20_000 }, (_, i) => ({
          error_type: `Storm${i % 7}`,
          message: 'killed',
          user_id: `${async_logging}-${i}`,
        })),
        at_a_time: 25,
        acknowledge: true,
      })
      await eventually(() => child.lines.length > 100, 'the storm has begun')
      await new Promise((resume) => setTimeout(resume, Math.random() * 100))
      child.process.kill('SIGKILL')
      expect(await child.exited).toBe('SIGKILL')
      for (const line of child.lines) {
        const [word, number] = line.split(' ')
        ;(word === 'handed' ? handed : settled).add(`${async_logging}-${number}`)
      }
    }
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await tracker.flush()
    // An unfinished file of a dead process may remain for a while. Its errors were never acknowledged.
    expect((await tracker.stats()).spool).toMatchObject({ files: 0, failed: 0 })

    const { users } = await verifiedCounts(storage.url)
    const recorded = new Map(Object.entries(users).map(([key, count]) => [key.split(' ')[1] ?? '', count]))
    expect([...settled].filter((number) => !recorded.has(number))).toEqual([])
    expect([...recorded.keys()].filter((number) => !handed.has(number))).toEqual([])
    expect([...recorded.values()].filter((count) => count !== 1)).toEqual([])
  })
})

interface Summary {
  states: Record<string, number>
  nulls: number
  rejected: number
}

/** Half of the errors share one group, a quarter share a few groups, and the rest have groups of their process. */
function eventsOf(process: number): LogErrorInput[] {
  return Array.from({ length: EVENTS }, (_, i) => ({
    error_type: i % 2 === 0 ? 'Hot' : i % 4 === 1 ? `Shared${i % 37}` : `Own${process}x${i % 41}`,
    message: 'mixed',
    user_id: `user-${i % 11}`,
    platform: ['web', 'ios', 'android'][i % 3] ?? 'web',
  }))
}

function countOne(): number {
  return 1
}

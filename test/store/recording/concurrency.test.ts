import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import { describeEachDatabase } from '../../support/databases.js'
import { runChild, startChild } from '../../support/processes/children.js'
import { sums, verifiedCounts } from '../../support/stored-counts.js'
import { CREDENTIALS, eventually, freshStorage, trackerAt } from '../../support/tracker.js'

const PROCESSES = 8
const EVENTS = 400

describeEachDatabase('eight processes that record concurrently', (database) => {
  for (const async_logging of [false, true]) {
    test(`eight processes count every error exactly once, with async_logging ${async_logging}`, {
      timeout: 120_000,
    }, async () => {
      const { url, spool_path } = await freshStorage(database)
      const plans = Array.from({ length: PROCESSES }, (_, process) => planOf(process))
      const summaries = await Promise.all(
        plans.map(({ application_name, events }) =>
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
      const all = plans.flatMap(({ application_name, events }) =>
        events.map((event) => ({ ...event, application_name })),
      )
      expect(counts.counts).toEqual(
        sums(all, ({ application_name, error_type }) => `${application_name} ${error_type}`, countOne),
      )
      expect(counts.users).toEqual(sums(all, ({ error_type, user_id }) => `${error_type} ${user_id}`, countOne))
    })
  }

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
    const logged = await Promise.all(Array.from({ length: 3000 }, () => tracker.Commands.LogError.call(event)))
    expect(logged.map((record) => record?.occurrence_count)).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1))
  })
})

describeEachDatabase('a process that is killed during a storm', (database) => {
  for (const async_logging of [false, true]) {
    test(`counts every acknowledged error exactly once, with async_logging ${async_logging}`, async () => {
      const storage = await freshStorage(database)
      const handed = new Set<string>()
      const settled = new Set<string>()
      for (let round = 0; round < 3; round++) {
        const child = startChild('record', {
          settings: { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, async_logging },
          events: Array.from({ length: 20_000 }, (_, i) => ({
            error_type: `Storm${i % 7}`,
            message: 'killed',
            user_id: `${round}-${i}`,
          })),
          at_a_time: 25,
          acknowledge: true,
        })
        await eventually(() => child.lines.length > 100, 'the storm has begun')
        await new Promise((resume) => setTimeout(resume, Math.random() * 400))
        child.process.kill('SIGKILL')
        expect(await child.exited).toBe('SIGKILL')
        for (const line of child.lines) {
          const [word, number] = line.split(' ')
          ;(word === 'handed' ? handed : settled).add(`${round}-${number}`)
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
  }
})

interface Summary {
  states: Record<string, number>
  nulls: number
  rejected: number
}

/** Half of the errors share one group, a quarter share a few groups, and the rest have groups of their process. */
function planOf(process: number): { application_name: string; events: LogErrorInput[] } {
  const events = Array.from({ length: EVENTS }, (_, i) => ({
    error_type: i % 2 === 0 ? 'Hot' : i % 4 === 1 ? `Shared${i % 37}` : `Own${process}x${i % 41}`,
    message: 'mixed',
    user_id: `user-${i % 11}`,
    platform: ['web', 'ios', 'android'][i % 3] ?? 'web',
  }))
  return { application_name: process < 6 ? 'shop' : 'billing', events }
}

function countOne(): number {
  return 1
}

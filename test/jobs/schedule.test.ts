import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { createEngine } from '../../src/jobs/engines.js'
import { SCHEDULES } from '../../src/jobs/registry.js'
import { enqueueIfDue } from '../../src/jobs/schedule.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import { describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage, NOON } from '../support/tracker.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describeEachDatabase('scheduled jobs', (database) => {
  test('enqueues a due job in one of many processes', async () => {
    const { round, clock } = await processes(4)
    expect(await round()).toEqual(['baselines', 'cascades', 'cleanup'])
    expect(await round()).toEqual([])
    clock.now += HOUR
    expect(await round()).toEqual(['cascades'])
    // Missed runs are combined into one run.
    clock.now += 5 * DAY
    expect(await round()).toEqual(['baselines', 'cascades', 'cleanup'])
    expect(await round()).toEqual([])
  })

  test('enqueues only enabled schedules', async () => {
    const { round, clock } = await processes(2, { enable_baseline_alerts: true })
    expect(await round()).toContain('baseline_alerts')
    clock.now += MINUTE
    expect(await round()).toEqual(['baseline_alerts'])
  })

  test('sends the first digest at its next due time and combines missed digests', async () => {
    const settings: Settings = { digest_frequency: 'daily', digest_hour: 8, time_zone: 'Europe/Berlin' }
    const { round, clock } = await processes(2, settings)
    expect(await round()).not.toContain('digest')
    clock.now = Date.parse('2026-03-11T06:59:00Z')
    expect(await round()).not.toContain('digest')
    clock.now = Date.parse('2026-03-11T07:00:00Z')
    expect(await round()).toContain('digest')
    expect(await round()).toEqual([])
    clock.now += 3 * DAY
    expect(await round()).toContain('digest')
    expect(await round()).toEqual([])
  })

  test('sends alerts once per application with its own settings', async () => {
    const settings: Settings = { digest_frequency: 'daily', digest_hour: 8, enable_baseline_alerts: true }
    const { contexts, round, clock } = await processes(2, settings)
    const [, second] = contexts
    if (!second) throw new Error('no process')
    second.config = { ...second.config, application_name: 'billing' }
    await round()
    clock.now += DAY
    const added = await round()
    expect(added.filter((name) => name === 'digest' || name === 'baseline_alerts')).toEqual([
      ...['baseline_alerts', 'baseline_alerts'],
      ...['digest', 'digest'],
    ])
    expect(added.filter((name) => name === 'cleanup')).toHaveLength(1)
  })

  test('runs on time after a clock that was ahead is corrected', async () => {
    const { round, clock } = await processes(2)
    clock.now += 365 * DAY
    await round()
    clock.now -= 365 * DAY
    expect(await round()).toEqual([])
    clock.now += HOUR
    expect(await round()).toEqual(['cascades'])
    clock.now += DAY
    expect(await round()).toEqual(['baselines', 'cascades', 'cleanup'])
  })

  test('enqueues a job again after a process died while enqueuing it', async () => {
    const { contexts, round, clock } = await processes(2)
    const [first] = contexts
    const cleanup = SCHEDULES.find(({ name }) => name === 'cleanup')
    if (!first || !cleanup) throw new Error('no process')
    // The job is durable, but the process dies before it stores the run time.
    const dying = { ...first, jobs: { ...first.jobs, add: dieAfter(first.jobs.add) } } as Context
    await expect(enqueueIfDue(dying, cleanup)).rejects.toThrow('died')
    expect(await round()).toEqual(['baselines', 'cascades', 'cleanup'])
    clock.now += 2 * MINUTE
    const { waiting } = await first.jobs.counts()
    expect(await round()).toEqual([])
    // The key is the same, so no second job was added.
    expect((await first.jobs.counts()).waiting).toBe(waiting)
    clock.now += 2 * MINUTE
    expect(await round()).toEqual([])
  })

  test('takes over the lease of a process that died before the clock was set back', async () => {
    const { contexts, round, clock } = await processes(2)
    const [first] = contexts
    const cleanup = SCHEDULES.find(({ name }) => name === 'cleanup')
    if (!first || !cleanup) throw new Error('no process')
    const dying = { ...first, jobs: { ...first.jobs, add: dieAfter(async () => {}) } } as Context
    await expect(enqueueIfDue(dying, cleanup)).rejects.toThrow('died')
    expect(await round()).not.toContain('cleanup')
    clock.now -= DAY
    expect(await round()).toContain('cleanup')
  })

  interface Processes {
    contexts: Context[]
    clock: { now: number }
    /** Checks the schedules in all processes concurrently. Returns the names of the newly enqueued jobs. */
    round(): Promise<string[]>
  }

  async function processes(count: number, settings: Settings = {}): Promise<Processes> {
    const { url } = await freshStorage(database)
    const clock = { now: NOON }
    const { options: config } = resolveConfiguration({ database: url, ...CREDENTIALS, ...settings }, {})
    const contexts = Array.from({ length: count }, () => {
      const own = createDatabase(url, '.')
      const ignore = () => {}
      const parts = { config, database: own, now: () => clock.now, random: () => 0.5, ready: async () => {} }
      const jobs = createEngine({ ...parts, log: { info: ignore, warn: ignore } })
      onTestFinished(() => own.close())
      return { ...parts, jobs } as unknown as Context
    })
    const named = async () => {
      const rows = await contexts[0]?.database.read.selectFrom('faultboard_jobs').select(['id', 'name']).execute()
      return rows ?? []
    }
    let known = new Set<number>()
    const round = async () => {
      for (const schedule of SCHEDULES) await Promise.all(contexts.map((context) => enqueueIfDue(context, schedule)))
      const jobs = await named()
      const added = jobs.filter(({ id }) => !known.has(id)).map(({ name }) => name)
      known = new Set(jobs.map(({ id }) => id))
      return added.sort()
    }
    return { contexts, clock, round }
  }
})

function dieAfter<Input>(work: (input: Input) => Promise<void>): (input: Input) => Promise<void> {
  return async (input) => {
    await work(input)
    throw new Error('died')
  }
}

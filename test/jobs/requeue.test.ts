import { expect, test } from 'vitest'
import type { RunningJob } from '../../src/jobs/engine.js'
import { belongsToAnotherApplication, requeueForOwnApplication } from '../../src/jobs/requeue.js'
import { harnessesOn, WEBHOOK } from '../notifications/delivery-harness.js'
import { describeEachDatabase } from '../support/databases.js'

const job = (data: Record<string, unknown>): RunningJob => ({
  ...{ name: 'record', data, attempt: 1 },
  signal: new AbortController().signal,
})

describeEachDatabase('jobs of several applications', (database) => {
  const openHarness = harnessesOn(database)

  test('recognizes a job of another application by its name', async () => {
    const { context } = await openHarness(WEBHOOK)
    expect(belongsToAnotherApplication(job({ application_name: 'billing' }), context)).toBe(true)
    expect(belongsToAnotherApplication(job({ application_name: 'shop' }), context)).toBe(false)
    expect(belongsToAnotherApplication(job({}), context)).toBe(false)
  })

  test('requeues a job for its own application a limited number of times', async () => {
    const { context } = await openHarness(WEBHOOK)
    const waiting = () => context.database.read.selectFrom('faultboard_jobs').selectAll().execute()
    let data: Record<string, unknown> = { application_name: 'billing', batch: '{}' }
    let times = 0
    while (await requeueForOwnApplication(context, job(data))) {
      const [row] = await waiting()
      expect(row).toMatchObject({ name: 'record', run_at: context.now() + 2000, max_attempts: 1000 })
      data = JSON.parse(row?.payload ?? '{}')
      expect(data).toMatchObject({ application_name: 'billing', batch: '{}', requeues: ++times })
      await context.database.read.deleteFrom('faultboard_jobs').execute()
    }
    expect(times).toBe(15)
  })
})

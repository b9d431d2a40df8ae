import PgBoss from 'pg-boss'
import { expect, onTestFinished, test } from 'vitest'
import { withFaultboard } from '../../src/subscribers/pg-boss.js'
import { describeEachDatabase } from '../support/databases.js'
import { eventually, freshTracker } from '../support/tracker.js'
import { recordsWithMessage } from '../support/trails.js'

describeEachDatabase(
  'a handler of pg-boss',
  (database) => {
    test('records errors once per attempt and lets pg-boss retry', async () => {
      const { tracker, url } = await freshTracker(database, {
        enable_breadcrumbs: true,
        breadcrumb_categories: ['step'],
      })
      const boss = await start(url)
      await boss.createQueue('mail')
      let runs = 0
      const handler = withFaultboard(async ([job]: PgBoss.JobWithMetadata<{ to: string }>[]) => {
        tracker.addBreadcrumb({ category: 'step', message: `run ${++runs}` })
        if (runs < 3) throw new TypeError('mail server is away')
        return { sent: job?.data.to }
      }, tracker)
      await boss.work('mail', { pollingIntervalSeconds: 0.5, includeMetadata: true }, handler)
      const data = { to: 'anna', password: 's3cr3t' }
      const id = await boss.send('mail', data, { retryLimit: 5, retryDelay: 0, retryBackoff: false })
      await eventually(async () => (await boss.getJobById('mail', id ?? ''))?.state === 'completed', 'the job is done')
      const [error] = await recordsWithMessage(tracker, 'mail server is away')
      expect(runs).toBe(3)
      expect(error?.occurrence_count).toBe(2)
      expect(
        error?.occurrences.map(({ context, breadcrumbs }) => [context.job, breadcrumbs[0]?.message]).reverse(),
      ).toEqual(
        [1, 2].map((attempt) => [
          {
            queue: 'mail',
            data: { to: 'anna', password: '[FILTERED]' },
            attempt,
            max_attempts: 6,
            will_retry: true,
            id,
          },
          `run ${attempt}`,
        ]),
      )
      const job = await boss.getJobById('mail', id ?? '')
      expect(job?.output).toEqual({ sent: 'anna' })
    })

    test('fails with the original error, even for a batch of jobs', async () => {
      const { tracker, url } = await freshTracker(database)
      const boss = await start(url)
      await boss.createQueue('batch')
      const failure = new RangeError('the whole batch')
      const ids = [await boss.send('batch', { n: 1 }, NO_RETRY), await boss.send('batch', { n: 2 }, NO_RETRY)]
      const handler = withFaultboard(() => Promise.reject(failure), tracker)
      await boss.work('batch', { pollingIntervalSeconds: 0.5, batchSize: 5 }, handler)
      await eventually(
        async () => (await boss.getJobById('batch', ids[1] ?? ''))?.state === 'failed',
        'they have failed',
      )
      expect((await boss.getJobById('batch', ids[0] ?? ''))?.output).toMatchObject({ message: 'the whole batch' })
      const [error] = await recordsWithMessage(tracker, 'the whole batch')
      expect(error).toMatchObject({
        occurrence_count: 1,
        tags: { queue: 'batch' },
        context: {
          job: { queue: 'batch', ids: expect.arrayContaining(ids), data: expect.arrayContaining([{ n: 1 }, { n: 2 }]) },
        },
        details: { source: 'pg-boss' },
      })
    })

    test('records the single job that pg-boss 9 passes', async () => {
      const { tracker } = await freshTracker(database)
      const handler = withFaultboard((_job: never) => Promise.reject(new RangeError('one job')), tracker)
      await expect(handler({ id: '7', name: 'mail', data: { n: 1 } } as never)).rejects.toThrow('one job')
      const [error] = await recordsWithMessage(tracker, 'one job')
      expect(error).toMatchObject({ tags: { queue: 'mail' }, context: { job: { queue: 'mail', data: { n: 1 } } } })
    })

    test('runs unchanged after a shutdown', async () => {
      const { tracker } = await freshTracker(database)
      const handler = withFaultboard(async (jobs: string[]) => {
        if (jobs.length === 0) throw new Error('too late')
        return jobs.length
      }, tracker)
      expect(await handler(['a'])).toBe(1)
      await tracker.shutdown()
      expect(await handler(['a', 'b'])).toBe(2)
      await expect(handler([])).rejects.toThrow('too late')
      expect(await recordsWithMessage(tracker.start(), 'too late')).toEqual([])
    })
  },
  { except: ['sqlite', 'mysql'] },
)

const NO_RETRY = { retryLimit: 0 }

async function start(url: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  onTestFinished(() => boss.stop({ graceful: false, wait: true }))
  return boss
}

import { randomUUID } from 'node:crypto'
import { errorMonitor } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Job, type JobsOptions, type Processor, Queue, UnrecoverableError, Worker } from 'bullmq'
import { describe, expect, onTestFinished, test } from 'vitest'
import { subscribeToWorker, withFaultboard } from '../../src/subscribers/bullmq.js'
import { describeEachDatabase } from '../support/databases.js'
import { eventually, freshTracker, temporaryFolder } from '../support/tracker.js'
import { recordsWithMessage } from '../support/trails.js'

const REDIS = process.env.FAULTBOARD_TEST_REDIS

describe.skipIf(!REDIS)(`BullMQ${REDIS ? '' : ' (skipped: FAULTBOARD_TEST_REDIS is not set)'}`, () => {
  describeEachDatabase(
    'a worker',
    (database) => {
      test('records each failed attempt of a job once', async () => {
        const { tracker } = await freshTracker(database)
        const { add, worker, failed } = await workOn(async (job) => {
          if (job.name === 'mail') throw new TypeError('mail server is away')
          if (job.name === 'hopeless') throw new UnrecoverableError('never again')
          return 'done'
        })
        subscribeToWorker(worker, tracker)
        const id = await add('mail', { to: 'anna', password: 's3cr3t' }, { attempts: 3 })
        await add('fine', {})
        await add('hopeless', {}, { attempts: 5 })
        await eventually(() => failed.length === 4, 'all attempts have failed')
        const [error] = await recordsWithMessage(tracker, 'mail server is away')
        expect(error?.occurrence_count).toBe(3)
        expect(error?.occurrences.map(({ context, details }) => [context.job, details.unhandled]).reverse()).toEqual(
          [1, 2, 3].map((attempt) => [
            {
              queue: worker.name,
              name: 'mail',
              attempt,
              max_attempts: 3,
              will_retry: attempt < 3,
              data: { to: 'anna', password: '[FILTERED]' },
              id,
            },
            attempt < 3 ? undefined : true,
          ]),
        )
        expect(error).toMatchObject({ tags: { queue: worker.name, job: 'mail' }, details: { source: 'bullmq' } })
        expect(error?.place).toContain('bullmq.test.ts')
        const [hopeless] = await recordsWithMessage(tracker, 'never again')
        expect(hopeless).toMatchObject({ occurrence_count: 1, context: { job: { attempt: 1, will_retry: false } } })
      })

      test('records the same Error of two jobs twice', async () => {
        const { tracker } = await freshTracker(database)
        const shared = new Error('a constant of the module')
        const { add, worker, failed } = await workOn(async () => {
          throw shared
        })
        subscribeToWorker(worker, tracker)
        await add('one', {})
        await add('two', {})
        await eventually(() => failed.length === 2, 'both jobs have failed')
        expect((await recordsWithMessage(tracker, shared.message))[0]?.occurrence_count).toBe(2)
      })

      test('records errors of a sandboxed processor', async () => {
        const { tracker } = await freshTracker(database)
        const file = join(temporaryFolder(), 'processor.cjs')
        writeFileSync(file, `module.exports = async function send() { throw new RangeError('out of the sandbox') }`)
        const { add, worker, failed } = await workOn(file)
        subscribeToWorker(worker, tracker)
        await add('mail', {})
        await eventually(() => failed.length === 1, 'the job has failed')
        const [error] = await recordsWithMessage(tracker, 'out of the sandbox')
        expect(error).toMatchObject({ occurrence_count: 1 })
        expect(error?.backtrace.join('\n')).toContain('processor.cjs')
      })

      test('runs each job in its own scope and records a failure once with its breadcrumbs', async () => {
        const { tracker } = await freshTracker(database, { enable_breadcrumbs: true, breadcrumb_categories: ['step'] })
        const seen: unknown[] = []
        const processor = withFaultboard(async (job: Job, _token?: string, signal?: AbortSignal) => {
          tracker.addBreadcrumb({ category: 'step', message: `began ${job.name}` })
          tracker.setTags({ customer: job.data.customer })
          await new Promise((done) => setTimeout(done, 5))
          tracker.addBreadcrumb({ category: 'step', message: `ended ${job.name}` })
          seen.push(signal instanceof AbortSignal)
          throw new Error(`job ${job.name} failed`)
        }, tracker)
        expect(processor.length).toBe(3)
        const { add, worker, failed } = await workOn(processor, { concurrency: 5 })
        subscribeToWorker(worker, tracker)
        const names = ['north', 'south', 'east', 'west']
        await Promise.all(names.map((name) => add(name, { customer: `c-${name}` })))
        await eventually(() => failed.length === 4, 'all jobs have failed')
        for (const name of names) {
          const [error, ...others] = await recordsWithMessage(tracker, `job ${name} failed`)
          expect(others).toEqual([])
          expect(error).toMatchObject({
            occurrence_count: 1,
            tags: { customer: `c-${name}`, job: name },
            context: { job: { attempt: 1, will_retry: false } },
          })
          expect(error?.breadcrumbs.map(({ message }) => message)).toEqual([`began ${name}`, `ended ${name}`])
        }
        expect(seen).toEqual([true, true, true, true])
      })

      test('keeps the listeners of the host and removes its own at shutdown', async () => {
        const { tracker } = await freshTracker(database)
        const { worker } = await workOn(async () => {})
        const counts = () => ['error', errorMonitor, 'failed'].map((event) => worker.listenerCount(event as 'failed'))
        const before = counts()
        const end = subscribeToWorker(worker, tracker)
        expect(counts()).toEqual([before[0], before[1], (before[2] ?? 0) + 1])
        end()
        expect(counts()).toEqual(before)
        subscribeToWorker(worker, tracker)
        await tracker.shutdown()
        expect(counts()).toEqual(before)
      })
    },
    { except: ['postgres', 'mysql'] },
  )
})

async function workOn(processor: Processor | string, options: { concurrency?: number } = {}) {
  const { hostname, port, password } = new URL(REDIS ?? '')
  const connection = { host: hostname, port: Number(port || 6379), ...(password ? { password } : {}) }
  const name = `mail-${randomUUID()}`
  const queue = new Queue(name, { connection })
  const worker = new Worker(name, processor, { connection, ...options })
  const failed: Error[] = []
  worker.on('failed', (_job, error) => failed.push(error))
  onTestFinished(async () => {
    await worker.close()
    await queue.obliterate({ force: true })
    await queue.close()
  })
  await worker.waitUntilReady()
  return {
    worker,
    failed,
    add: async (job: string, data: object, more: JobsOptions = {}) => (await queue.add(job, data, more)).id,
  }
}

import { expect, onTestFinished, test } from 'vitest'
import { Counters } from '../../../src/model/counters.js'
import { createDatabase } from '../../../src/store/database.js'
import { BatchWriter } from '../../../src/store/recording/batch-writer.js'
import { Recorder } from '../../../src/store/recording/recorder.js'
import { createEnqueueBatch } from '../../../src/store/spool/enqueue-batch.js'
import { Spool } from '../../../src/store/spool/spool.js'
import { NO_OUTBOX } from '../../support/databases/no-outbox.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase } from '../../support/databases.js'
import {
  freshStorage,
  freshTracker,
  NOON,
  type TrackerStorage,
  temporaryFolder,
  trackerAt,
} from '../../support/tracker.js'

const MANY = Array.from({ length: 30 }, (_, i) => ({ error_type: 'Boom', message: `order ${i % 3 === 0 ? 'a' : 'b'}` }))

describeEachDatabase('an accepted error', (database) => {
  test('an accepted error is counted once when its batch is delivered to a worker several times', async () => {
    const storage = await freshStorage(database)
    const texts: string[] = []
    const { accepted, recorder } = await handing(storage, async (text) => void texts.push(text))
    expect(accepted).toEqual(['accepted', 'accepted', 'accepted'])
    expect(await counted(storage)).toBe(0)
    expect(texts.length).toBeGreaterThan(0)
    for (const text of [...texts, ...texts]) await recorder.recordEnqueuedBatch(text)
    expect(await counted(storage)).toBe(3)
  })

  test('an accepted error is written to disk when the engine is unavailable, without a new attempt for each error', async () => {
    const storage = await freshStorage(database)
    let attempts = 0
    const { accepted, recorder, failures } = await handing(storage, async () => {
      attempts++
      throw new Error('refused')
    })
    await recorder.flush()
    expect(accepted).toEqual(['accepted', 'accepted', 'accepted'])
    expect(await counted(storage)).toBe(3)
    expect(attempts).toBe(1)
    expect(failures).toEqual(['refused'])
  })

  async function handing(storage: TrackerStorage, add: (text: string) => Promise<void>) {
    const failures: string[] = []
    const own = createDatabase(storage.url, '.')
    const writing = {
      database: own,
      spool: new Spool(temporaryFolder(), 10_000_000),
      counters: new Counters(),
      application_name: 'shop',
      max_occurrences_per_error: 100,
      now: () => NOON,
      open: async () => {},
      warn() {},
    }
    const recorder = new Recorder(
      {
        ...writing,
        loadWriter: async () => new BatchWriter({ ...writing, outbox: NO_OUTBOX }),
        crashes: null,
        enqueueBatch: createEnqueueBatch({ add, onFailed: (error) => failures.push((error as Error).message) }),
        onSpooled() {},
      },
      { journal: true, spoolOnly: false },
    )
    onTestFinished(async () => {
      await recorder.close()
      await own.close()
    })
    const accepted: string[] = []
    // Sequential, so that each error is a separate batch.
    for (const number of [1, 2, 3]) {
      const { state } = await recorder.record({ ...EVENT, user_id: String(number) })
      accepted.push(state)
    }
    return { accepted, recorder, failures }
  }
})

const REDIS = process.env.FAULTBOARD_TEST_REDIS

describeEachDatabase(
  'async_logging with an external job engine',
  (database) => {
    test.skipIf(!REDIS)('writes errors in a worker process', async () => {
      // Loaded before the first error, which would not wait for the load.
      await Promise.all([import('bullmq'), import('ioredis')])
      const settings = { async_logging: true, job_engine: 'bullmq', redis_url: REDIS ?? '' } as const
      const { tracker, ...storage } = await freshTracker(database, { ...settings, run_jobs: false })
      const logged = await Promise.all(MANY.map((event) => tracker.Commands.LogError.call(event)))
      expect(new Set(logged.map((record) => record?.state))).toEqual(new Set(['accepted']))
      await tracker.flush()
      expect(await counted(storage)).toBe(0)
      expect((await tracker.stats()).spool.files).toBe(0)
      // The shutdown enqueues all remaining errors.
      await tracker.Commands.LogError.call({ error_type: 'Last', message: 'words' })
      await tracker.shutdown()
      trackerAt({ ...storage, spool_path: temporaryFolder() }, settings)
      await expect.poll(() => counted(storage), { timeout: 20_000 }).toBe(MANY.length + 1)
    })

    test.skipIf(!REDIS)('writes errors to disk while Redis is unavailable, without waiting for it', async () => {
      const proxy = await startProxy(REDIS ?? '')
      await proxy.refuse()
      const settings = { async_logging: true, job_engine: 'bullmq', redis_url: proxy.url } as const
      const { tracker, lines, ...storage } = await freshTracker(database, settings)
      const logged = await Promise.all(MANY.map((event) => tracker.Commands.LogError.call(event)))
      expect(new Set(logged.map((record) => record?.state))).toEqual(new Set(['accepted']))
      await tracker.flush()
      expect(await counted(storage)).toBe(MANY.length)
      expect((await tracker.stats()).dropped).toEqual({ job_engine_unavailable: 1 })
      expect(lines.join('')).toContain('Cannot enqueue errors')
    })
  },
  { except: ['mysql'] },
)

const EVENT = {
  ...{ hash_signature: 'a'.repeat(64), environment: 'test', error_type: 'Boom', message: 'm' },
  ...{ severity: 'low', platform: 'server' },
  ...{ backtrace: [], causes: [], place: null, app_version: null, git_sha: null, user_id: null },
  ...{ request_url: null, ip_address: null, user_agent: null, context: {}, occurred_at: NOON },
} as unknown as Parameters<Recorder['record']>[0]

async function counted({ url }: Pick<TrackerStorage, 'url'>): Promise<number> {
  const own = createDatabase(url, '.')
  const rows = await own.read.selectFrom('faultboard_errors').select('occurrence_count').execute()
  await own.close()
  return rows.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
}

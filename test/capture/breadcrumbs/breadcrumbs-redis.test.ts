import { channel } from 'node:diagnostics_channel'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { instrumentRedis } from '../../../src/subscribers/redis.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker } from '../../support/tracker.js'
import { recordedBreadcrumbs } from '../../support/trails.js'

const REDIS = process.env.FAULTBOARD_TEST_REDIS

describe.skipIf(!REDIS)(`Redis${REDIS ? '' : ' (skipped: FAULTBOARD_TEST_REDIS is not set)'}`, () => {
  describeEachDatabase(
    'ioredis breadcrumbs',
    (database) => {
      test('records command, key, duration and errors without values or identifiers', async () => {
        const { tracker } = await freshTracker(database, { enable_breadcrumbs: true })
        expect(channel('tracing:ioredis:command:start').hasSubscribers).toBe(false)
        instrumentRedis(tracker)
        const redis = new Redis(REDIS ?? '', { keyPrefix: 'faultboard-test:' })
        onTestFinished(() => redis.disconnect())
        await redis.ping()
        const trail = await tracker.withScope(async () => {
          await redis.set('cart:prices', 's3cr3t', 'EX', 5)
          await redis.get('lock:8f3a9c')
          await redis.eval('return ARGV[1]', 0, 's3cr3t')
          await redis.lpush('cart:prices', 's3cr3t').catch(() => {})
          return recordedBreadcrumbs(tracker)
        })
        expect(trail.map(({ category, message, metadata }) => [category, message, metadata])).toEqual([
          ['redis', 'SET faultboard-test:cart:prices', undefined],
          ['redis', 'GET faultboard-test:lock:?', undefined],
          ['redis', 'EVAL', undefined],
          ['redis', 'LPUSH faultboard-test:cart:prices', { error: 'failed' }],
        ])
        for (const { duration_ms } of trail) expect(duration_ms).toEqual(expect.any(Number))
      })
    },
    { except: ['postgres', 'mysql'] },
  )
})

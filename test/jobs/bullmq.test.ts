import { describe } from 'vitest'
import { jobEngineContract, settingsOf } from '../contract/job-engine.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshStorage } from '../support/tracker.js'

const REDIS = process.env.FAULTBOARD_TEST_REDIS

describe.skipIf(!REDIS)(`BullMQ${REDIS ? '' : ' (skipped: FAULTBOARD_TEST_REDIS is not set)'}`, () => {
  describeEachDatabase(
    'the engine, for a tracker',
    (database) => {
      jobEngineContract(async () => {
        const { url } = await freshStorage(database)
        const settings = (redis_url: string) => settingsOf({ database: url, job_engine: 'bullmq', redis_url })
        return { settings: settings(REDIS ?? ''), server: { url: REDIS ?? '', settings } }
      })
    },
    // The jobs are in Redis, regardless of the tracker's database.
    { except: ['postgres', 'mysql'] },
  )
})

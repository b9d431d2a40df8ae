import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/jobs/engines.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import { jobEngineContract, settingsOf } from '../contract/job-engine.js'
import { describeEachDatabase } from '../support/databases.js'
import { eventually, freshStorage } from '../support/tracker.js'

describeEachDatabase(
  'the engine on pg-boss',
  (database) => {
    describe("in the tracker's own database", () => {
      jobEngineContract(async () => {
        const { url } = await freshStorage(database)
        const settings = (address: string) => settingsOf({ database: address, job_engine: 'pg-boss' })
        return { settings: settings(url), server: { url, settings } }
      })
    })

    test("uses the host's pool or a separate database", async () => {
      const { url } = await freshStorage(database)
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      onTestFinished(() => pool.end())
      const engine = engineFor({ database: pool })
      await engine.add([{ name: 'cleanup', data: {} }])
      expect(await engine.counts()).toMatchObject({ waiting: 1 })
      const elsewhere = engineFor({ database: pool, job_database: await database.fresh() })
      expect(await elsewhere.counts()).toMatchObject({ waiting: 0 })
    })

    test('releases the key of a job in the statement that marks it as failed', async () => {
      const { url } = await freshStorage(database)
      const engine = engineFor({ database: url })
      await engine.counts()
      const client = new pg.Client({ connectionString: url })
      onTestFinished(() => client.end())
      await client.connect()
      await client.query(`
        create function keep_failed() returns trigger language plpgsql as 'begin return null; end';
        create trigger keep_failed before update on faultboard_jobs.job
          for each row when (old.state = 'failed') execute function keep_failed()`)
      engine.work(async () => {
        throw new Error('permanent failure')
      })
      for (const failed of [1, 2]) {
        await engine.add([{ name: 'cleanup', data: {}, key: 'delivery:5:1', max_attempts: 1 }])
        await eventually(async () => (await engine.counts()).failed === failed, `${failed} jobs have failed`)
      }
    })

    test('starts concurrently in many processes', async () => {
      const { url } = await freshStorage(database)
      const engines = Array.from({ length: 8 }, () => engineFor({ database: url }))
      const counts = await Promise.all(engines.map((engine) => engine.counts()))
      expect(counts.map(({ waiting }) => waiting)).toEqual(Array(8).fill(0))
    })

    test('reports the missing privilege and leaves no connection in a broken transaction', async () => {
      const { url } = await freshStorage(database)
      const admin = new pg.Client({ connectionString: url })
      await admin.connect()
      const role = `faultboard_test_${process.pid}_${Date.now()}`
      onTestFinished(async () => {
        await admin.query(`drop owned by ${role}; drop role ${role}`)
        await admin.end()
      })
      await admin.query(`create role ${role} login password 'p'; grant all on all tables in schema public to ${role}`)
      const address = new URL(url)
      address.username = role
      address.password = 'p'
      const pool = new pg.Pool({ connectionString: address.href, max: 1 })
      onTestFinished(() => pool.end())
      const engine = engineFor({ database: pool })
      await expect(engine.counts()).rejects.toThrow(/grant create on database/)
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
      await admin.query(`grant create on database ${address.pathname.slice(1)} to ${role}`)
      expect(await engine.counts()).toMatchObject({ waiting: 0 })
    })
  },
  { except: ['sqlite', 'mysql'] },
)

function engineFor(settings: { database: pg.Pool | string; job_database?: string }) {
  const { options: config } = resolveConfiguration(settingsOf({ ...settings, job_engine: 'pg-boss' }), {})
  const ignore = () => {}
  const engine = createEngine({
    config,
    database: createDatabase(settings.database, '.'),
    ready: async () => {},
    log: { info: ignore, warn: ignore },
    now: Date.now,
    random: Math.random,
  })
  onTestFinished(() => engine.stop())
  return engine
}

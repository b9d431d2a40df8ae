import { createDatabase, type Database } from '../store/database.js'
import { loadDriver } from '../store/load-driver.js'
import type { JobName } from './engine.js'
import type { EngineParts } from './engine-parts.js'
import { installationId } from './installation.js'
import { keptOpen } from './kept-open.js'
import {
  type Boss,
  type BossJob,
  type BossModule,
  executeSql,
  type Rows,
  unlessDeadlocked,
  withMissingRight,
  wrongVersion,
} from './pg-boss-database.js'
import type { JobStore } from './polling-engine.js'
import { MAX_ATTEMPTS, MAX_DEAD_LETTERS, type Timing } from './timing.js'
import type { ClaimedJob } from './worker.js'

const SCHEMA = 'faultboard_jobs'
const JOBS = `${SCHEMA}.job`
/** Longest slot of the column: at most one job per key, however far apart they are added. */
const FOR_EVER = 2 ** 31 - 1

interface Open {
  boss: Boss
  queue: string
  close(): Promise<void>
}

/**
 * Jobs in PostgreSQL, with pg-boss. Its own workers would keep the host process alive with timers, and have no
 * renewable lease. Jobs are fetched by polling, and a running job renews its start time.
 */
export function pgBossJobs(parts: EngineParts, timing: Timing): JobStore {
  const { job_database } = parts.config
  const own = job_database === null ? null : createDatabase(job_database, '.')
  const database = own ?? parts.database
  const connection = keptOpen(() => connect(parts, database, timing))
  const ask = async (text: string, ...values: unknown[]): Promise<Rows> => {
    const { queue } = await connection.open()
    return executeSql(database, text, [queue, ...values])
  }
  const idsOf = (jobs: readonly ClaimedJob[]) => jobs.map(({ id }) => id)
  // A key is reserved until its job is done or failed permanently; pg-boss keeps it for failed jobs.
  const freeKeys = () =>
    ask(`update ${JOBS} set singleton_on = null where name = $1 and state = 'failed' and singleton_on is not null`)

  return {
    title: database.dialect.address,
    complains_at: 1,

    async add(jobs) {
      const { boss, queue } = await connection.open()
      await boss.insert(
        jobs.map(({ name, data, key, run_at, max_attempts }) => ({
          name: queue,
          data: { name, data },
          startAfter: run_at === undefined ? undefined : new Date(run_at).toISOString(),
          retryLimit: (max_attempts ?? MAX_ATTEMPTS) - 1,
          expireInSeconds: Math.ceil(timing.lease_ms / 1000),
          ...(key === undefined ? {} : { singletonKey: key, singletonSeconds: FOR_EVER }),
        })),
      )
    },

    async claim(limit) {
      const { boss, queue } = await connection.open()
      let failure: unknown
      // pg-boss treats every failure as a collision with another worker and hides it.
      const reportingDb = {
        executeSql: (text: string, values?: readonly unknown[]) =>
          executeSql(database, text, values).catch((error: unknown) => {
            failure = error
            throw error
          }),
      }
      const jobs = await boss.fetch(queue, { batchSize: limit, includeMetadata: true, db: reportingDb })
      if (failure) throw failure
      return jobs.map(claimedJob)
    },

    async keep(jobs) {
      await ask(
        `update ${JOBS} set started_on = now() where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        idsOf(jobs),
      )
    },

    async done(job) {
      await ask(
        `delete from ${JOBS} where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
        job.id,
        job.attempt - 1,
      )
    },

    async failed(job, reason, pause_ms) {
      const mine = `name = $1 and id = $2 and state = 'active' and retry_count = $3`
      const values = [job.id, job.attempt - 1, JSON.stringify({ message: reason })]
      if (pause_ms !== null) {
        // With pg-boss's own backoff, the delays would grow to days.
        const later = `start_after = now() + $5::float8 * interval '1 millisecond'`
        await ask(`update ${JOBS} set state = 'retry', output = $4::jsonb, ${later} where ${mine}`, ...values, pause_ms)
        return
      }
      await ask(
        `update ${JOBS} set state = 'failed', output = $4::jsonb, completed_on = now() where ${mine}`,
        ...values,
      )
      await freeKeys()
      await ask(
        `delete from ${JOBS} where name = $1 and state = 'failed' and id in (
          select id from ${JOBS} where name = $1 and state = 'failed'
          order by completed_on desc offset ${MAX_DEAD_LETTERS})`,
      )
    },

    async giveBack(jobs) {
      // Without a start time, the next fetch does not count as an attempt.
      await ask(
        `update ${JOBS} set state = 'created', started_on = null
        where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        idsOf(jobs),
      )
    },

    async putOff(job, pause_ms) {
      await ask(
        `update ${JOBS} set state = 'created', started_on = null,
          start_after = now() + $3::float8 * interval '1 millisecond'
        where name = $1 and id = $2 and state = 'active'`,
        job.id,
        pause_ms,
      )
    },

    async rescue() {
      const { boss } = await connection.open()
      await boss.expire?.()
      await freeKeys()
    },

    async counts() {
      const { rows } = await ask(
        `select count(*) filter (where state < 'active' and start_after <= now()) as waiting,
          count(*) filter (where state < 'active' and start_after > now()) as delayed,
          count(*) filter (where state = 'active') as active,
          count(*) filter (where state = 'failed') as failed
        from ${JOBS} where name = $1`,
      )
      const count = (name: string) => Number(rows[0]?.[name] ?? 0)
      return {
        waiting: count('waiting'),
        delayed: count('delayed'),
        active: count('active'),
        failed: count('failed'),
      }
    },

    async deadLetters(limit) {
      const { rows } = await ask(
        `select data, retry_count, output->>'message' as reason, extract(epoch from completed_on) as failed_at
        from ${JOBS} where name = $1 and state = 'failed' order by completed_on desc limit $2`,
        limit,
      )
      return rows.map((row) => ({
        ...(row.data as BossJob['data']),
        attempts: Number(row.retry_count) + 1,
        last_error: String(row.reason ?? ''),
        failed_at: Math.round(Number(row.failed_at) * 1000),
      }))
    },

    async close() {
      await own?.close()
    },
  }
}

async function connect(parts: EngineParts, database: Database, timing: Timing): Promise<Open> {
  const PgBoss = await loadDriver<BossModule>('pg-boss', 'job_engine pg-boss')
  if (typeof PgBoss !== 'function') throw wrongVersion()
  const queue = await installationId(parts)
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: readonly unknown[]) => executeSql(database, text, values) },
    schema: SCHEMA,
    supervise: false,
    schedule: false,
    expireInSeconds: Math.ceil(timing.lease_ms / 1000),
  })
  if (typeof boss.expire !== 'function') throw wrongVersion()
  // Each call reports its own failure. Without a listener, the error would end the host.
  boss.on('error', () => {})
  try {
    await unlessDeadlocked(() => boss.start())
    await unlessDeadlocked(() => boss.createQueue(queue))
  } catch (error) {
    throw withMissingRight(error, SCHEMA)
  }
  return { boss, queue, async close() {} }
}

function claimedJob({ id, data, retryCount, retryLimit }: BossJob): ClaimedJob {
  return {
    id,
    name: data.name as JobName,
    data: data.data,
    attempt: retryCount + 1,
    max_attempts: retryLimit + 1,
  }
}

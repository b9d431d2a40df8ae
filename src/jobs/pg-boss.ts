import { createDatabase, type Database } from '../store/database.js'
import { loadDriver } from '../store/load-driver.js'
import type { JobName } from './engine.js'
import { installationId } from './installation.js'
import { openLazily } from './lazy-resource.js'
import {
  type Boss,
  type BossJob,
  type BossModule,
  executeSql,
  explainMissingPrivilege,
  type Rows,
  retryDeadlocks,
  unsupportedVersionError,
} from './pg-boss-database.js'
import type { ClaimedJob, EngineParts, JobStore } from './polling-engine.js'
import { MAX_ATTEMPTS, MAX_DEAD_LETTERS, type Timing } from './timing.js'

const SCHEMA = 'faultboard_jobs'
const JOB_TABLE = `${SCHEMA}.job`
/** Longest slot that the column can store, so that a key never has two jobs, however far apart they are added. */
const MAX_SINGLETON_SECONDS = 2 ** 31 - 1

interface OpenQueue {
  boss: Boss
  queue: string
  close(): Promise<void>
}

/**
 * Jobs in PostgreSQL, with pg-boss. Its own workers would keep the host process alive with timers, and have no
 * renewable lease. Jobs are fetched by polling, and a running job renews its start time.
 */
export function createPgBossStore(parts: EngineParts, timing: Timing): JobStore {
  const { job_database } = parts.config
  const ownDatabase = job_database === null ? null : createDatabase(job_database, '.')
  const database = ownDatabase ?? parts.database
  const connection = openLazily(() => connect(parts, database, timing))
  const runQuery = async (text: string, ...values: unknown[]): Promise<Rows> => {
    const { queue } = await connection.open()
    return executeSql(database, text, [queue, ...values])
  }
  const jobIds = (jobs: readonly ClaimedJob[]) => jobs.map(({ id }) => id)

  return {
    title: database.dialect.address,
    failuresBeforeWarning: 1,

    async add(jobs) {
      const { boss, queue } = await connection.open()
      await boss.insert(
        jobs.map(({ name, data, key, run_at, max_attempts }) => ({
          name: queue,
          data: { name, data },
          startAfter: run_at === undefined ? undefined : new Date(run_at).toISOString(),
          retryLimit: (max_attempts ?? MAX_ATTEMPTS) - 1,
          expireInSeconds: Math.ceil(timing.leaseMs / 1000),
          ...(key === undefined ? {} : { singletonKey: key, singletonSeconds: MAX_SINGLETON_SECONDS }),
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
      return jobs.map(toClaimedJob)
    },

    async renewLeases(jobs) {
      await runQuery(
        `update ${JOB_TABLE} set started_on = now() where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        jobIds(jobs),
      )
    },

    async complete(job) {
      await runQuery(
        `delete from ${JOB_TABLE} where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
        job.id,
        job.attempt - 1,
      )
    },

    async fail(job, reason, delayMs) {
      const claimCondition = `name = $1 and id = $2 and state = 'active' and retry_count = $3`
      const values = [job.id, job.attempt - 1, JSON.stringify({ message: reason })]
      if (delayMs !== null) {
        // With pg-boss's own backoff, the delays would grow to days.
        const delayedStart = `start_after = now() + $5::float8 * interval '1 millisecond'`
        await runQuery(
          `update ${JOB_TABLE} set state = 'retry', output = $4::jsonb, ${delayedStart} where ${claimCondition}`,
          ...values,
          delayMs,
        )
        return
      }
      // Also releases the key. A later statement would lose jobs with this key that are added in between.
      await runQuery(
        `update ${JOB_TABLE} set state = 'failed', output = $4::jsonb, completed_on = now(), singleton_on = null
        where ${claimCondition}`,
        ...values,
      )
      await runQuery(
        `delete from ${JOB_TABLE} where name = $1 and state = 'failed' and id in (
          select id from ${JOB_TABLE} where name = $1 and state = 'failed'
          order by completed_on desc offset ${MAX_DEAD_LETTERS})`,
      )
    },

    async release(jobs) {
      // Without a start time, the next fetch does not count as an attempt.
      await runQuery(
        `update ${JOB_TABLE} set state = 'created', started_on = null
        where name = $1 and id = any($2::uuid[]) and state = 'active'`,
        jobIds(jobs),
      )
    },

    async postpone(job, delayMs) {
      await runQuery(
        `update ${JOB_TABLE} set state = 'created', started_on = null,
          start_after = now() + $3::float8 * interval '1 millisecond'
        where name = $1 and id = $2 and state = 'active'`,
        job.id,
        delayMs,
      )
    },

    async releaseExpired() {
      const { boss } = await connection.open()
      await boss.expire?.()
      // A key is reserved until its job completes or fails permanently. pg-boss keeps the keys of expired jobs.
      await runQuery(
        `update ${JOB_TABLE} set singleton_on = null where name = $1 and state = 'failed' and singleton_on is not null`,
      )
    },

    async counts() {
      const { rows } = await runQuery(
        `select count(*) filter (where state < 'active' and start_after <= now()) as waiting,
          count(*) filter (where state < 'active' and start_after > now()) as delayed,
          count(*) filter (where state = 'active') as active,
          count(*) filter (where state = 'failed') as failed
        from ${JOB_TABLE} where name = $1`,
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
      const { rows } = await runQuery(
        `select data, retry_count, output->>'message' as reason, extract(epoch from completed_on) as failed_at
        from ${JOB_TABLE} where name = $1 and state = 'failed' order by completed_on desc limit $2`,
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
      await ownDatabase?.close()
    },
  }
}

async function connect(parts: EngineParts, database: Database, timing: Timing): Promise<OpenQueue> {
  const PgBoss = await loadDriver<BossModule>('pg-boss', 'job_engine pg-boss')
  if (typeof PgBoss !== 'function') throw unsupportedVersionError()
  const queue = await installationId(parts)
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: readonly unknown[]) => executeSql(database, text, values) },
    schema: SCHEMA,
    supervise: false,
    schedule: false,
    expireInSeconds: Math.ceil(timing.leaseMs / 1000),
  })
  if (typeof boss.expire !== 'function') throw unsupportedVersionError()
  // Each call reports its own failure. Without a listener, an `error` event would crash the host.
  boss.on('error', () => {})
  try {
    await retryDeadlocks(() => boss.start())
    await retryDeadlocks(() => boss.createQueue(queue))
  } catch (error) {
    throw explainMissingPrivilege(error, SCHEMA)
  }
  return { boss, queue, async close() {} }
}

function toClaimedJob({ id, data, retryCount, retryLimit }: BossJob): ClaimedJob {
  return {
    id,
    name: data.name as JobName,
    data: data.data,
    attempt: retryCount + 1,
    max_attempts: retryLimit + 1,
  }
}

import { randomUUID } from 'node:crypto'
import type { BulkTarget } from '../store/dialect.js'
import { sql } from '../store/kysely.js'
import { withRowLocks } from '../store/sql/row-locks.js'
import type { JobName } from './engine.js'
import type { ClaimedJob, EngineParts, JobStore } from './polling-engine.js'
import { MAX_ATTEMPTS, MAX_CLOCK_SKEW_MS, MAX_DEAD_LETTERS, type Timing } from './timing.js'

const JOB_ROWS: BulkTarget = {
  table: 'faultboard_jobs',
  columns: [
    ...(['name', 'job_key', 'payload', 'state'] as const).map((name) => ({ name, type: 'text' as const })),
    ...(['run_at', 'max_attempts', 'created_at'] as const).map((name) => ({ name, type: 'integer' as const })),
  ],
  onConflict: { key: ['job_key'], update: [] },
}

const PROCESS_ENDED = 'The process ended during every attempt.'

/**
 * Jobs in the tracker's own database: durable, shared by all processes, and without dependencies. A job is `waiting`
 * until it is claimed, `active` until its lease ends, or `failed` permanently. Completed jobs are deleted.
 */
export function createEmbeddedStore({ database, ready, now }: EngineParts, timing: Timing): JobStore {
  const { dialect, read } = database
  const workerId = randomUUID()
  /** Matches only while this worker holds the lease. After a long pause, another process may have claimed the job. */
  const ownClaim = (job: ClaimedJob) =>
    ({ id: Number(job.id), locked_by: workerId, attempts: job.attempt, state: 'active' }) as const

  /** Prevents delays after the clock is set back: jobs would wait, and leases of dead processes would not expire. */
  async function correctFutureTimes(time: number): Promise<void> {
    const maxLease = time + timing.leaseMs + MAX_CLOCK_SKEW_MS
    const maxCreated = time + MAX_CLOCK_SKEW_MS
    const hasFutureTime = await read
      .selectFrom('faultboard_jobs')
      .select('id')
      .where('state', 'in', ['waiting', 'active'])
      .where(({ eb, or }) => or([eb('locked_until', '>', maxLease), eb('created_at', '>', maxCreated)]))
      .limit(1)
      .executeTakeFirst()
    if (!hasFutureTime) return
    await database.write(async (trx) => {
      await trx
        .updateTable('faultboard_jobs')
        .set({ locked_until: time + timing.leaseMs })
        .where('state', '=', 'active')
        .where('locked_until', '>', maxLease)
        .execute()
      await trx
        .updateTable('faultboard_jobs')
        // MySQL assigns from left to right.
        .set({ run_at: sql`run_at - (created_at - ${time})`, created_at: time })
        .where('state', 'in', ['waiting', 'active'])
        .where('created_at', '>', maxCreated)
        .execute()
    })
  }

  return {
    title: dialect.address,
    // About half a minute. The recorder usually reports the same outage first, on its next write.
    failuresBeforeWarning: 5,

    async add(jobs) {
      await ready()
      const time = now()
      const rows = jobs.map(({ name, data, key, run_at, max_attempts }) => [
        ...[name, key ?? null, JSON.stringify(data), 'waiting'],
        ...[run_at ?? time, max_attempts ?? MAX_ATTEMPTS, time],
      ])
      await database.write(async (trx) => void (await dialect.insertMany(trx, JOB_ROWS, rows)))
    },

    async claim(limit) {
      await ready()
      // An idle check costs one read. A transaction is only started for due jobs.
      const hasDueJob = await read
        .selectFrom('faultboard_jobs')
        .select('id')
        .where('state', '=', 'waiting')
        .where('run_at', '<=', now())
        .limit(1)
        .executeTakeFirst()
      if (!hasDueJob) return []
      return database.write(async (trx) => {
        const dueJobs = trx
          .selectFrom('faultboard_jobs')
          .select(['id', 'name', 'payload', 'attempts', 'max_attempts'])
          .where('state', '=', 'waiting')
          .where('run_at', '<=', now())
          .orderBy('run_at')
          .limit(limit)
        const rows = await withRowLocks(dueJobs, dialect, 'skip').execute()
        if (rows.length === 0) return []
        await trx
          .updateTable('faultboard_jobs')
          .set({
            state: 'active',
            locked_by: workerId,
            locked_until: now() + timing.leaseMs,
            attempts: sql`attempts + 1`,
          })
          .where('id', 'in', jobIds(rows))
          .execute()
        return rows.map(({ id, name, payload, attempts, max_attempts }) => ({
          id: String(id),
          name: name as JobName,
          data: JSON.parse(payload),
          attempt: attempts + 1,
          max_attempts,
        }))
      })
    },

    async renewLeases(jobs) {
      await database.write((trx) =>
        trx
          .updateTable('faultboard_jobs')
          .set({ locked_until: now() + timing.leaseMs })
          .where('id', 'in', jobIds(jobs))
          .where('locked_by', '=', workerId)
          .execute(),
      )
    },

    async complete(job) {
      await database.write((trx) =>
        trx
          .deleteFrom('faultboard_jobs')
          .where(({ and }) => and(ownClaim(job)))
          .execute(),
      )
    },

    async fail(job, reason, delayMs) {
      const outcome = { last_error: reason, locked_by: null, locked_until: null }
      const time = now()
      await database.write(async (trx) => {
        await trx
          .updateTable('faultboard_jobs')
          .set(
            delayMs === null
              ? { ...outcome, state: 'failed', job_key: null, run_at: time, finished_at: time }
              : { ...outcome, state: 'waiting', run_at: time + delayMs },
          )
          .where(({ and }) => and(ownClaim(job)))
          .execute()
        if (delayMs !== null) return
        const surplus = await trx
          .selectFrom('faultboard_jobs')
          .select('id')
          .where('state', '=', 'failed')
          .orderBy('run_at', 'desc')
          .orderBy('id', 'desc')
          .offset(MAX_DEAD_LETTERS)
          .limit(100)
          .execute()
        if (surplus.length > 0) await trx.deleteFrom('faultboard_jobs').where('id', 'in', jobIds(surplus)).execute()
      })
    },

    async release(jobs) {
      await database.write((trx) =>
        trx
          .updateTable('faultboard_jobs')
          .set({ state: 'waiting', locked_by: null, locked_until: null, attempts: sql`attempts - 1` })
          .where('id', 'in', jobIds(jobs))
          .where('locked_by', '=', workerId)
          .where('state', '=', 'active')
          .execute(),
      )
    },

    async postpone(job, delayMs) {
      await database.write((trx) =>
        trx
          .updateTable('faultboard_jobs')
          .set({
            ...{ state: 'waiting', locked_by: null, locked_until: null },
            ...{ run_at: now() + delayMs, attempts: sql`attempts - 1` },
          })
          .where(({ and }) => and(ownClaim(job)))
          .execute(),
      )
    },

    async releaseExpired() {
      await ready()
      const time = now()
      await correctFutureTimes(time)
      const hasExpiredLease = await read
        .selectFrom('faultboard_jobs')
        .select('id')
        .where('state', '=', 'active')
        .where('locked_until', '<', time)
        .limit(1)
        .executeTakeFirst()
      if (!hasExpiredLease) return
      await database.write(async (trx) => {
        const withExpiredLease = () =>
          trx
            .updateTable('faultboard_jobs')
            .set({ run_at: time, locked_by: null, locked_until: null })
            .where('state', '=', 'active')
            .where('locked_until', '<', time)
        await withExpiredLease().set({ state: 'waiting' }).whereRef('attempts', '<', 'max_attempts').execute()
        // A job that crashes its process every time must not be retried indefinitely.
        await withExpiredLease()
          .set({ state: 'failed', job_key: null, finished_at: time, last_error: PROCESS_ENDED })
          .whereRef('attempts', '>=', 'max_attempts')
          .execute()
      })
    },

    async counts() {
      await ready()
      const rows = await read
        .selectFrom('faultboard_jobs')
        .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
        .groupBy('state')
        .execute()
      const { delayed } = await read
        .selectFrom('faultboard_jobs')
        .select(({ fn }) => fn.countAll<number>().as('delayed'))
        .where('state', '=', 'waiting')
        .where('run_at', '>', now())
        .executeTakeFirstOrThrow()
      const countOf = (state: string) => rows.find((row) => row.state === state)?.count ?? 0
      const delayedCount = Number(delayed)
      return {
        waiting: countOf('waiting') - delayedCount,
        delayed: delayedCount,
        active: countOf('active'),
        failed: countOf('failed'),
      }
    },

    async deadLetters(limit) {
      await ready()
      const rows = await read
        .selectFrom('faultboard_jobs')
        .select(['name', 'payload', 'attempts', 'last_error', 'finished_at'])
        .where('state', '=', 'failed')
        .orderBy('run_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(({ name, payload, attempts, last_error, finished_at }) => ({
        name,
        data: JSON.parse(payload),
        attempts,
        last_error: last_error ?? '',
        failed_at: finished_at ?? 0,
      }))
    },

    // The tracker closes the database.
    async close() {},
  }
}

function jobIds(jobs: readonly { id: string | number }[]): number[] {
  return jobs.map(({ id }) => Number(id))
}

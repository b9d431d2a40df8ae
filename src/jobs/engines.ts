import { ConfigurationError } from '../model/errors.js'
import { bullmqJobs } from './bullmq.js'
import { embeddedJobs } from './embedded.js'
import type { JobEngine } from './engine.js'
import type { EngineParts } from './engine-parts.js'
import { pgBossJobs } from './pg-boss.js'
import { type JobStore, pollingEngine } from './polling-engine.js'
import { TIMING, type Timing } from './timing.js'

/**
 * The engine that the configuration names; what it needs is loaded and opened with its first use. Throws a
 * ConfigurationError when a setting that it needs is missing.
 */
export function createEngine(parts: EngineParts): JobEngine {
  const timing = { ...TIMING, ...parts.timing }
  return pollingEngine(parts.config.job_engine, storeOf(parts, timing), parts, timing)
}

function storeOf(parts: EngineParts, timing: Timing): JobStore {
  const { job_engine, redis_url, job_database } = parts.config
  if (job_engine === 'embedded') return embeddedJobs(parts, timing)
  if (job_engine === 'bullmq') {
    if (redis_url !== null) return bullmqJobs(parts, redis_url, timing)
    throw new ConfigurationError([
      'redis_url is missing: job_engine bullmq needs a Redis, such as redis://127.0.0.1:6379',
    ])
  }
  if (job_database !== null || parts.database.dialect.canHostPgBoss) return pgBossJobs(parts, timing)
  throw new ConfigurationError([
    'job_database is missing: job_engine pg-boss needs a PostgreSQL, and database is none; set it to an address such as postgres://localhost/jobs',
  ])
}

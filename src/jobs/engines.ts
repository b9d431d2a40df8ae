import { ConfigurationError } from '../model/errors.js'
import { createBullmqStore } from './bullmq.js'
import { createEmbeddedStore } from './embedded.js'
import type { JobEngine } from './engine.js'
import { createPgBossStore } from './pg-boss.js'
import type { EngineParts } from './polling-engine.js'
import { createPollingEngine, type JobStore } from './polling-engine.js'
import { TIMING, type Timing } from './timing.js'

/**
 * Creates the configured engine. Dependencies are loaded and opened on first use. Throws a ConfigurationError if a
 * required option is missing.
 */
export function createEngine(parts: EngineParts): JobEngine {
  const timing = { ...TIMING, ...parts.timing }
  return createPollingEngine(parts.config.job_engine, createStore(parts, timing), parts, timing)
}

function createStore(parts: EngineParts, timing: Timing): JobStore {
  const { job_engine, redis_url, job_database } = parts.config
  if (job_engine === 'embedded') return createEmbeddedStore(parts, timing)
  if (job_engine === 'bullmq') {
    if (redis_url !== null) return createBullmqStore(parts, redis_url, timing)
    throw new ConfigurationError([
      'redis_url is missing: job_engine bullmq requires Redis, such as redis://127.0.0.1:6379',
    ])
  }
  if (job_database !== null || parts.database.dialect.canHostPgBoss) return createPgBossStore(parts, timing)
  throw new ConfigurationError([
    'job_database is missing: job_engine pg-boss requires PostgreSQL, but database is not PostgreSQL; set job_database to a URL such as postgres://localhost/jobs',
  ])
}

import { createBullmqStore } from './bullmq.js'
import { createEmbeddedStore } from './embedded.js'
import { assertEngineConfigured, type JobEngine } from './engine.js'
import { createPgBossStore } from './pg-boss.js'
import type { EngineParts } from './polling-engine.js'
import { createPollingEngine, type JobStore } from './polling-engine.js'
import { TIMING, type Timing } from './timing.js'

/**
 * Creates the configured engine. Dependencies are loaded and opened on first use. Throws a ConfigurationError if a
 * required option is missing.
 */
export function createEngine(parts: EngineParts): JobEngine {
  assertEngineConfigured(parts.config, parts.database.target)
  const timing = { ...TIMING, ...parts.timing }
  return createPollingEngine(parts.config.job_engine, createStore(parts, timing), parts, timing)
}

function createStore(parts: EngineParts, timing: Timing): JobStore {
  const { job_engine, redis_url } = parts.config
  if (job_engine === 'embedded') return createEmbeddedStore(parts, timing)
  return job_engine === 'bullmq' ? createBullmqStore(parts, redis_url ?? '', timing) : createPgBossStore(parts, timing)
}

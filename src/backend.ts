/** Parts of a tracker that use its database: SQL, jobs and notifications. Loaded right after startup. */

import { createAuditTrail } from './audit/audit-log.js'
import type { Options } from './config/options.js'
import type { Context, Log } from './context.js'
import type { JobEngine } from './jobs/engine.js'
import { createEngine } from './jobs/engines.js'
import { type Jobs, startJobs } from './jobs/registry.js'
import type { CountRejections } from './model/budgets.js'
import type { Counters } from './model/counters.js'
import type { AuditTrail, ChangeOrigin } from './model/people/audit.js'
import type { Redactor } from './model/redaction/redaction.js'
import { incompleteChannelWarnings } from './notifications/channels/incomplete-channels.js'
import { createOutbox } from './notifications/delivery/create-outbox.js'
import { createDatabase, type Database } from './store/database.js'
import type { DatabaseTarget } from './store/database-target.js'
import { openSchema } from './store/open-schema.js'
import { BatchWriter } from './store/recording/batch-writer.js'
import type { Outbox } from './store/recording/outbox.js'
import type { Spool } from './store/spool/spool.js'

export interface BackendParts {
  config: Options
  target: DatabaseTarget
  spool: Spool
  counters: Counters
  log: Log
  now(): number
  random(): number
  reject: CountRejections
  redactor: Redactor
  /** Origin of changes by commands called in code. */
  origin: ChangeOrigin
}

export interface Backend {
  database: Database
  outbox: Outbox
  jobs: JobEngine
  audit: AuditTrail
  writer: BatchWriter
  /** Resolves when the schema is current. */
  ready(): Promise<void>
  startJobs(context: Context): Jobs
}

/** Creates all parts without connecting. */
export function createBackend(parts: BackendParts): Backend {
  const { config, spool, counters, log, now, random, reject, redactor, origin } = parts
  for (const warning of incompleteChannelWarnings(config)) log.warn(warning)
  const database = createDatabase(config.database, config.project_root)
  database.dialect.file?.onIncident(log.warn)
  const ready = memoizeUntilFailure(
    () => openSchema(database),
    () => database.dialect.file?.generation,
  )
  const outbox = createOutbox({ config, database, now, reject })
  const { application_name, max_occurrences_per_error } = config
  const writer = new BatchWriter({
    ...{ database, spool, counters, outbox, application_name, max_occurrences_per_error, now },
    ...{ open: ready, warn: log.warn },
  })
  const jobs = createEngine({ config, database, ready, log, now, random })
  const audit = createAuditTrail({ database, redactor, counters, log, now }, origin)
  return { database, outbox, jobs, audit, writer, ready, startJobs }
}

/** Shares one attempt among all callers until the attempt fails or the generation of the database file changes. */
function memoizeUntilFailure(attempt: () => Promise<void>, generation: () => number | undefined): () => Promise<void> {
  let running: { attempt: Promise<void>; generation: number | undefined } | null = null
  return () => {
    const current = generation()
    if (running?.generation !== current) running = null
    if (running) return running.attempt
    const started = { attempt: attempt(), generation: current }
    running = started
    started.attempt.catch(() => {
      if (running === started) running = null
    })
    return started.attempt
  }
}

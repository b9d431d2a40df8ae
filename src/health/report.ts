import type * as v from 'valibot'
import type { Options } from '../config/options.js'
import { BUDGET_NAMES, type BudgetName } from '../model/budgets.js'
import * as r from '../model/result.js'
import { SpoolState } from '../store/spool/spool.js'
import { DatabaseHealth } from './database.js'
import { WorkHealth } from './work.js'

/** `failing`: errors are lost or cannot be read. `degraded`: nothing is lost, but attention is needed. */
const HEALTH_STATES = ['ok', 'degraded', 'failing'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

export const Reason = r.object({
  state: r.oneOf(['degraded', 'failing']),
  message: r.text,
})
export type Reason = v.InferOutput<typeof Reason>

/** Drops or fallbacks of one kind since the process started, with an explanation. */
export const Dropped = r.object({
  reason: r.text,
  count: r.integer,
  text: r.text,
})
export type Dropped = v.InferOutput<typeof Dropped>

export const RejectedByBudget = r.object({
  /** Option that sets the limit, with its value. */
  option: r.oneOf(BUDGET_NAMES),
  limit: r.opaque<Options[BudgetName]>(),
  count: r.integer,
  first_rejected_at: r.time,
  last_rejected_at: r.time,
  text: r.text,
})
export type RejectedByBudget = v.InferOutput<typeof RejectedByBudget>

export const ProcessHealth = r.object({
  faultboard_version: r.text,
  node_version: r.text,
  pid: r.integer,
  uptime_seconds: r.number,
  memory_bytes: r.integer,
})
export type ProcessHealth = v.InferOutput<typeof ProcessHealth>

/** Health of the tracker itself. Buffer, drops, spool and process belong to the responding process. */
export const Health = r.object({
  state: r.oneOf(HEALTH_STATES),
  /** Problems with their solutions. */
  reasons: r.list(Reason),
  /** Settings to check. They do not affect the state. */
  hints: r.list(r.text),
  recorder: r.object({
    buffered: r.integer,
    queued: r.integer,
    unavailable_since: r.nullable(r.time),
    /** Failure that started the outage. */
    unavailable_reason: r.nullable(r.text),
    last_flush_at: r.nullable(r.time),
  }),
  dropped: r.list(Dropped),
  spool: r.object({ ...SpoolState.entries, max_bytes: r.integer }),
  database: DatabaseHealth,
  /** Rejections by budgets in the last 24 hours, in all processes; null if the database cannot be read. */
  rejections: r.nullable(r.list(RejectedByBudget)),
  work: r.nullable(WorkHealth),
  process: ProcessHealth,
})
export type Health = v.InferOutput<typeof Health>

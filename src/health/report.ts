import type { Options } from '../config/options.js'
import type { BudgetName } from '../model/budgets.js'
import type { SpoolState } from '../store/spool/spool.js'
import type { DatabaseHealth } from './database.js'
import type { WorkHealth } from './work.js'

/** Health of the tracker itself. Buffer, drops, spool and process belong to the responding process. */
export interface Health {
  state: HealthState
  /** Problems with their solutions. */
  reasons: Reason[]
  recorder: { buffered: number; queued: number; unavailable_since: string | null; last_flush_at: string | null }
  dropped: Dropped[]
  spool: SpoolState & { max_bytes: number }
  database: DatabaseHealth
  /** Rejections by budgets in the last 24 hours, in all processes; null if the database cannot be read. */
  rejections: RejectedByBudget[] | null
  work: WorkHealth | null
  process: ProcessHealth
}

/** A drop or fallback since the process started, with its meaning. */
export interface Dropped {
  reason: string
  count: number
  text: string
}

export interface RejectedByBudget {
  /** The limiting option and its value. */
  option: BudgetName
  limit: Options[BudgetName]
  count: number
  first_rejected_at: string
  last_rejected_at: string
  text: string
}

export interface ProcessHealth {
  faultboard_version: string | null
  node_version: string
  pid: number
  uptime_seconds: number
  memory_bytes: number
}

/** `failing`: errors are lost or cannot be read. `degraded`: nothing is lost, but attention is needed. */
export type HealthState = 'ok' | 'degraded' | 'failing'

export interface Reason {
  state: Exclude<HealthState, 'ok'>
  message: string
}

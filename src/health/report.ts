import type { Options } from '../config/options.js'
import type { BudgetName } from '../model/budgets.js'
import type { SpoolState } from '../store/spool/spool.js'
import type { DatabaseHealth } from './database.js'
import type { WorkHealth } from './work.js'

/** How the tracker itself is doing. Buffer, drops, spool and process are those of the process that answers. */
export interface Health {
  state: HealthState
  /** What is not as it should be, and what to do about it. */
  reasons: Reason[]
  recorder: { buffered: number; queued: number; away_since: string | null; last_flush_at: string | null }
  dropped: Dropped[]
  spool: SpoolState & { max_bytes: number }
  database: DatabaseHealth
  /** What budgets rejected in the last 24 hours, in all processes; null when the database cannot be read. */
  rejections: RejectedByBudget[] | null
  work: WorkHealth | null
  process: ProcessHealth
}

/** What did not go the ordinary way since the process started, and what that means. */
export interface Dropped {
  reason: string
  count: number
  text: string
}

export interface RejectedByBudget {
  /** The option that limits it, and its value. */
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

/** `failing`: errors are lost, or cannot be read. `degraded`: nothing is lost, but somebody should look. */
export type HealthState = 'ok' | 'degraded' | 'failing'

export interface Reason {
  state: Exclude<HealthState, 'ok'>
  sentence: string
}

import type { ClientSource } from '../../model/event.js'
import type { Severity } from '../../model/severity/severity.js'
import type { Status } from '../../model/workflow.js'
import type { FoldedGroup } from './folded-group.js'

/** Folded groups that are written in one transaction. The batch id makes the write idempotent. */
export interface Batch {
  batch_id: string
  /** Ids of other batches that were merged into this batch, see merge-batches.ts. */
  mergedIds?: readonly string[]
  application_name: string
  groups: readonly FoldedGroup[]
  /** True if an earlier attempt may have been committed without a response. */
  mayBeCommitted: boolean
}

/** State of a group after the write. */
export interface GroupOutcome {
  id: number
  application_id: number
  environment: string
  hash_signature: string
  occurrence_count: number
  severity: Severity
  status: Status
  first_seen_at: number
  snoozed_until: number | null
  muted_at: number | null
  muted_until: number | null
  is_new: boolean
  reopened: boolean
  /** Version of the regression, if it is newer than every release at the time of resolution. */
  regressed_in_version: string | null
}

export interface BatchOutcome {
  /** True if the batch had been written before, so that nothing was counted. */
  duplicate: boolean
  /** By group key. */
  groups: Map<string, GroupOutcome>
  /** Positions of the events that were counted before, by group key, see deduplicate.ts. */
  repeated: Map<string, ReadonlySet<number>>
  refused: Refusal[]
}

/** Group that the database refuses permanently. */
export interface Refusal {
  group: FoldedGroup
  error: unknown
}

export interface GroupRow {
  id: number
  environment: string
  hash_signature: string
  error_type: string
  first_message: string | null
  severity: Severity
  occurred_at: number
  shown_at: number | null
  occurrence_count: number
  status: Status
  resolved_at: number | null
  reopened_at: number | null
  resolved_by_name: string | null
  first_seen_at: number
  snoozed_until: number | null
  muted_at: number | null
  muted_until: number | null
  resolved_in_version: string | null
  source: ClientSource | null
}

export interface ReopenedGroup {
  id: number
  /** Highest severity since the resolution. Earlier occurrences do not count. */
  severity: Severity
  resolved_by_name: string | null
  resolved_in_version: string | null
  /** Version of the regression, if it is newer than every release at the time of resolution. */
  regressed_in_version: string | null
  /** Commit of that release, if the release name contains a commit. */
  regressed_in_commit: string | null
}

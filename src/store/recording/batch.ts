import type { ClientSource } from '../../model/event.js'
import type { Severity } from '../../model/severity.js'
import type { Status } from '../../model/workflow.js'
import type { FoldedGroup } from './fold.js'

/** Folded groups that are written in one transaction, under an id that makes the writing of it happen once. */
export interface Batch {
  batch_id: string
  /** Ids of further batches whose groups are part of this one, see merge-batches.ts. */
  merged_ids?: readonly string[]
  application_name: string
  groups: readonly FoldedGroup[]
  /** Whether an earlier attempt may have been committed without our knowing. */
  tried_before: boolean
}

/** What became of one group. */
export interface GroupOutcome {
  id: number
  application_id: number
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
  /** The release in which it came back, where that is newer than the one in which it was resolved. */
  regressed_in_version: string | null
}

export interface BatchOutcome {
  /** The batch had been written already: nothing was counted this time. */
  duplicate: boolean
  groups: Map<string, GroupOutcome>
  /** By signature, the positions in their group of the events that had been counted before, see count-once.ts. */
  repeated: Map<string, ReadonlySet<number>>
  refused: Refusal[]
}

/** A group that the database does not take, whatever is tried. */
export interface Refusal {
  group: FoldedGroup
  error: unknown
}

export interface GroupRow {
  id: number
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

export interface ReturnedGroup {
  id: number
  /** The highest since it was resolved: an error that is reopened starts again. */
  severity: Severity
  resolved_by_name: string | null
  resolved_in_version: string | null
  /** The version it came back in, where that release is newer than the newest there was when it was resolved. */
  regressed_in_version: string | null
  /** The commit of that release, where the version alone does not name it. */
  regressed_in_commit: string | null
}

import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { ErrorRow } from '../sql/row-locks.js'
import type { GroupOutcome } from './batch.js'
import type { FoldedGroup } from './folded-group.js'

/**
 * Transactional outbox for notifications. Each notification is stored in the transaction of the change it reports. A process
 * that dies neither loses a notification nor sends a false notification.
 */
export interface Outbox {
  /** Called under the row locks of the groups, once per batch that is not a duplicate. */
  recorded(trx: Transaction<Schema>, groups: readonly RecordedGroup[]): Promise<void>
  /** Called with errors that this transaction resolves or deletes. The rows contain the values before the change. */
  settled(trx: Transaction<Schema>, errors: readonly ErrorRow[]): Promise<void>
  /** Called with errors that this transaction assigns to a person. */
  assigned(trx: Transaction<Schema>, errors: readonly ErrorRow[], assignment: Assignment): Promise<void>
  /** Announces that the next transaction stores a notification, so that it is sent immediately. */
  noteWrite(): void
  /** Returns true if notifications were stored recently. Their transaction may not be committed yet. */
  hasRecentWrites(): boolean
}

export interface Assignment {
  assigned_to: string
  /** Name of the person or program that assigned the errors. */
  actor: string
}

export interface RecordedGroup {
  group: FoldedGroup
  outcome: GroupOutcome
}

import type { Transaction } from '../kysely.js'
import type { ErrorRow } from '../lock.js'
import type { Schema } from '../schema.js'
import type { GroupOutcome } from './batch.js'
import type { FoldedGroup } from './fold.js'

/**
 * Where what is to be told to people is written down, in the transaction that makes it true: a process that is killed
 * the instant after has neither lost a message nor made one up.
 */
export interface Outbox {
  /** Called under the row locks of the groups, once for each batch that counts. */
  recorded(trx: Transaction<Schema>, groups: readonly RecordedGroup[]): Promise<void>
  /** Errors that are resolved or deleted in this transaction, as they were before. */
  settled(trx: Transaction<Schema>, errors: readonly ErrorRow[]): Promise<void>
  /** Whether it has written something within the last moments, which may be committed by now or not. */
  hasNews(): boolean
}

export interface RecordedGroup {
  group: FoldedGroup
  outcome: GroupOutcome
}

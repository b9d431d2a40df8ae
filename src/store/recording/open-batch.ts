import type { ErrorEvent } from '../../model/event.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import type { BatchOutcome, GroupOutcome } from './batch.js'
import { FoldedGroup, groupKey } from './folded-group.js'

/**
 * `recorded`: committed. `repeated`: an event with the same client id was counted before. `accepted`: on disk or with the
 * job engine, committed soon. `spooled`: on disk until the database is available again.
 */
export type Receipt =
  | { state: 'recorded'; outcome: GroupOutcome; occurrence_count: number }
  | { state: 'repeated' }
  | { state: 'accepted' | 'spooled' }
  | { state: 'lost'; reason: string }

/** Callback that resolves the caller's promise for one event. */
export type Settle = (receipt: Receipt) => void

/** Repeats of one group, and their callers in order of arrival. */
export interface OpenGroup {
  group: FoldedGroup
  callers: Settle[]
  /** Length of the messages that callers hold until they are settled, including events that are not kept. */
  receiptBytes: number
}

/** Limits the events that are kept in full. Beyond it, each group keeps fewer events. The sums stay exact. */
const MAX_ROWS = 20_000
/** Limits that make the batch full, so that its oldest groups go to disk. */
const MAX_GROUPS = 5000
const MAX_CALLERS = 30_000
const MAX_BYTES = 32 * 1024 * 1024

/** Events that wait for the intake, folded by group. */
export class OpenBatch {
  readonly #keep: number
  readonly #groups = new Map<string, OpenGroup>()
  /** The newest group per signature. Finds nearly all repeats without building the key of their group. */
  readonly #bySignature = new Map<string, OpenGroup>()
  #rows = 0
  /** Estimated memory of the kept events and of the messages that callers hold. */
  #bytes = 0
  size = 0

  constructor(keep: number) {
    this.#keep = keep
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_BYTES || this.size >= MAX_CALLERS || this.#groups.size >= MAX_GROUPS
  }

  add(event: ErrorEvent, settle: Settle): void {
    const openGroup = this.#findGroup(event) ?? this.#openGroup(event)
    const before = openGroup.group.bytes
    openGroup.group.add(event, this.#keep)
    openGroup.callers.push(settle)
    openGroup.receiptBytes += event.message.length
    this.#bytes += openGroup.group.bytes - before + event.message.length
    this.size++
    if (++this.#rows > MAX_ROWS) this.#halveKept()
  }

  #findGroup(event: ErrorEvent): OpenGroup | undefined {
    const sameSignature = this.#bySignature.get(event.hash_signature)
    if (sameSignature?.group.environment === event.environment) return sameSignature
    return this.#groups.get(groupKey(event))
  }

  #openGroup(event: ErrorEvent): OpenGroup {
    const openGroup: OpenGroup = { group: new FoldedGroup(event), callers: [], receiptBytes: 0 }
    this.#groups.set(openGroup.group.key, openGroup)
    this.#bySignature.set(event.hash_signature, openGroup)
    return openGroup
  }

  /** Removes and returns the oldest groups: at least one, and at most `maxRows` rows beyond that. */
  take(maxRows: number): OpenGroup[] {
    const taken: OpenGroup[] = []
    let rows = 0
    for (const [key, open] of this.#groups) {
      this.#trimGroup(open.group, this.#keep)
      const { count, kept } = open.group
      if (taken.length > 0 && rows + kept.length > maxRows) break
      taken.push(open)
      rows += kept.length
      this.#groups.delete(key)
      this.#bySignature.delete(open.group.hash_signature)
      this.size -= count
      this.#bytes -= open.group.bytes + open.receiptBytes
    }
    this.#rows = Math.max(0, this.#rows - rows)
    return taken
  }

  #halveKept(): void {
    this.#rows = 0
    for (const { group } of this.#groups.values()) {
      this.#trimGroup(group, Math.ceil(group.kept.length / 2))
      this.#rows += group.kept.length
    }
  }

  #trimGroup(group: FoldedGroup, keep: number): void {
    const before = group.bytes
    group.trimKeptEvents(keep)
    this.#bytes += group.bytes - before
  }
}

/** Callers settled per event loop iteration. After a hanging database, thousands of callers wait for one batch. */
const MAX_SETTLED_AT_ONCE = 500

/** Settles all callers at once, because the process may be about to end. */
export function settleAll(taken: readonly OpenGroup[], receipt: Receipt): void {
  for (const { callers } of taken) for (const settle of callers) settle(receipt)
}

/** Settles all callers and yields to the event loop in between. */
export async function settleInBatches(taken: readonly OpenGroup[], receipt: Receipt): Promise<void> {
  let settled = 0
  for (const { callers } of taken) {
    for (const settle of callers) {
      settle(receipt)
      if (++settled % MAX_SETTLED_AT_ONCE === 0) await nextTurn()
    }
  }
}

/** Settles each caller with the occurrence number of its event, and yields to the event loop in between. */
export async function settleRecorded(
  taken: readonly OpenGroup[],
  { groups, repeated, refused }: BatchOutcome,
): Promise<void> {
  let settled = 0
  const refusedGroups = new Set(refused.map(({ group }) => group.key))
  for (const { group, callers } of taken) {
    const outcome = groups.get(group.key)
    const duplicates = repeated.get(group.key)
    let number = (outcome?.occurrence_count ?? 0) - group.count + (duplicates?.size ?? 0)
    for (const [i, settle] of callers.entries()) {
      if (duplicates?.has(i)) settle({ state: 'repeated' })
      else if (refusedGroups.has(group.key)) settle({ state: 'lost', reason: 'refused_by_database' })
      else if (!outcome) settle({ state: 'spooled' })
      else settle({ state: 'recorded', outcome, occurrence_count: ++number })
      if (++settled % MAX_SETTLED_AT_ONCE === 0) await nextTurn()
    }
  }
}

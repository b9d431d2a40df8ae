import type { ErrorEvent } from '../../model/event.js'
import type { BatchOutcome, GroupOutcome } from './batch.js'
import { FoldedGroup } from './fold.js'

/**
 * `recorded`: committed. `repeated`: counted before under the number that its client gave it. `accepted`: safe in the
 * spool, committed soon. `spooled`: the database is away for now.
 */
export type Receipt =
  | { state: 'recorded'; outcome: GroupOutcome; occurrence_count: number }
  | { state: 'repeated' }
  | { state: 'accepted' | 'spooled' }
  | { state: 'lost'; reason: string }

/** Tells a caller what became of its event. */
export type Settle = (receipt: Receipt) => void

/** The repeats of one signature, and their callers in the order in which they came. */
export interface OpenGroup {
  group: FoldedGroup
  callers: Settle[]
  /** Characters of the messages that the callers are answered with, whether or not their events are still kept. */
  answer_bytes: number
}

/** Events held in full while they wait to be written; past it each group keeps fewer, and every sum stays exact. */
const MAX_ROWS = 20_000
/** Past any of these the batch is full: what it holds has to go to disk. */
const MAX_GROUPS = 5000
const MAX_CALLERS = 30_000
const MAX_BYTES = 32 * 1024 * 1024

/** The events that were handed over and are not being written yet, folded per signature. */
export class OpenBatch {
  readonly #keep: number
  readonly #groups = new Map<string, OpenGroup>()
  #rows = 0
  /** About what the events take that are held in full, and the messages that their callers wait with. */
  #bytes = 0
  size = 0

  constructor(keep: number) {
    this.#keep = keep
  }

  get is_full(): boolean {
    return this.#bytes >= MAX_BYTES || this.size >= MAX_CALLERS || this.#groups.size >= MAX_GROUPS
  }

  add(event: ErrorEvent, settle: Settle): void {
    let open = this.#groups.get(event.hash_signature)
    if (!open) {
      open = { group: new FoldedGroup(event), callers: [], answer_bytes: 0 }
      this.#groups.set(event.hash_signature, open)
    }
    const before = open.group.bytes
    open.group.add(event, this.#keep)
    open.callers.push(settle)
    open.answer_bytes += event.message.length
    this.#bytes += open.group.bytes - before + event.message.length
    this.size++
    if (++this.#rows > MAX_ROWS) this.#thin()
  }

  /** Takes out the oldest groups, up to so many rows; one at least. */
  take(limit: number): OpenGroup[] {
    const taken: OpenGroup[] = []
    let rows = 0
    for (const [hash_signature, open] of this.#groups) {
      this.#thinGroup(open.group, this.#keep)
      const { count, kept } = open.group
      if (taken.length > 0 && rows + kept.length > limit) break
      taken.push(open)
      rows += kept.length
      this.#groups.delete(hash_signature)
      this.size -= count
      this.#bytes -= open.group.bytes + open.answer_bytes
    }
    this.#rows = Math.max(0, this.#rows - rows)
    return taken
  }

  #thin(): void {
    this.#rows = 0
    for (const { group } of this.#groups.values()) {
      this.#thinGroup(group, Math.ceil(group.kept.length / 2))
      this.#rows += group.kept.length
    }
  }

  #thinGroup(group: FoldedGroup, keep: number): void {
    const before = group.bytes
    group.thin(keep)
    this.#bytes += group.bytes - before
  }
}

export function settleAll(taken: readonly OpenGroup[], receipt: Receipt): void {
  for (const { callers } of taken) for (const settle of callers) settle(receipt)
}

/** Tells each caller the number that its own event got. */
export function settleRecorded(taken: readonly OpenGroup[], { groups, repeated, refused }: BatchOutcome): void {
  const refusedGroups = new Set(refused.map(({ group }) => group.hash_signature))
  for (const { group, callers } of taken) {
    const outcome = groups.get(group.hash_signature)
    const again = repeated.get(group.hash_signature)
    let number = (outcome?.occurrence_count ?? 0) - group.count + (again?.size ?? 0)
    for (const [i, settle] of callers.entries()) {
      if (again?.has(i)) settle({ state: 'repeated' })
      else if (refusedGroups.has(group.hash_signature)) settle({ state: 'lost', reason: 'refused_by_database' })
      else if (!outcome) settle({ state: 'spooled' })
      else settle({ state: 'recorded', outcome, occurrence_count: ++number })
    }
  }
}

import type { ErrorEvent } from '../../model/event.js'
import { hourOf } from '../../model/time.js'
import { FoldedGroup, hourKey, type NumberedEvent } from './fold.js'

/** The group as if these events had never come; null where no other is in it. The group itself stays as it was. */
export function unfold(group: FoldedGroup, repeated: readonly NumberedEvent[]): FoldedGroup | null {
  if (repeated.length === 0) return group
  if (repeated.length >= group.count) return null
  const taken = new Set(repeated.map(({ event_digest }) => event_digest))
  const isTaken = ({ event_digest = '' }: ErrorEvent) => taken.has(event_digest)
  const kept = withoutNewest(group.kept, repeated)
  const left = [...kept, ...[group.oldest, group.newest].filter((event) => !isTaken(event))]
  const newest = left.reduce(
    (last, event) => (event.occurred_at > last.occurred_at ? event : last),
    left[0] ?? group.newest,
  )
  const oldest = left.reduce(
    (first, event) => (event.occurred_at < first.occurred_at ? event : first),
    left[0] ?? group.oldest,
  )
  const hours = [...group.hours.values()]
  const users = [...group.users.values()]
  const rest = FoldedGroup.fromJSON({
    ...{ oldest, newest, count: group.count - repeated.length },
    // A group without a row could not be looked at.
    kept: kept.length > 0 ? kept : [newest],
    hours: hours.map((sum) => ({ ...sum })),
    users: users.map((sum) => ({ ...sum })),
  })
  for (const event of repeated) subtract(rest, event)
  return rest
}

function subtract({ hours, users }: FoldedGroup, { occurred_at, app_version, user_id, ...event }: NumberedEvent): void {
  takeOne(hours, hourKey({ ...event, hour: hourOf(occurred_at), app_version: app_version ?? '' }))
  if (user_id !== null) takeOne(users, user_id)
}

function takeOne(sums: Map<string, { count: number }>, key: string): void {
  const sum = sums.get(key)
  if (sum && --sum.count === 0) sums.delete(key)
}

/** Of two with one number in the same group, the first was counted: the later one goes. */
function withoutNewest(kept: readonly ErrorEvent[], repeated: readonly NumberedEvent[]): ErrorEvent[] {
  const surplus = new Map<string, number>()
  for (const { event_digest } of repeated) surplus.set(event_digest, (surplus.get(event_digest) ?? 0) + 1)
  return kept
    .toReversed()
    .filter(({ event_digest = '' }) => {
      const left = surplus.get(event_digest) ?? 0
      if (left > 0) surplus.set(event_digest, left - 1)
      return left === 0
    })
    .reverse()
}

import type { Batch } from './batch.js'
import { FoldedGroup, type HourSum, hourKey, type UserSum } from './folded-group.js'

/** Merges batches into one per application, so that each application needs one transaction. */
export function mergeBatches(batches: readonly Batch[]): Batch[] {
  const byApplication = new Map<string, Batch[]>()
  for (const batch of batches) {
    const known = byApplication.get(batch.application_name)
    if (known) known.push(batch)
    else byApplication.set(batch.application_name, [batch])
  }
  return [...byApplication.values()].map(merge)
}

function merge(batches: readonly Batch[]): Batch {
  const [first, ...others] = batches as [Batch, ...Batch[]]
  if (others.length === 0) return first
  const byKey = new Map<string, FoldedGroup[]>()
  for (const group of batches.flatMap(({ groups }) => groups)) {
    const known = byKey.get(group.key)
    if (known) known.push(group)
    else byKey.set(group.key, [group])
  }
  return {
    ...first,
    mergedIds: others.map(({ batch_id }) => batch_id),
    groups: [...byKey.values()].map(mergeGroups),
    mayBeCommitted: false,
  }
}

/** Copies the groups, because the originals are written separately if the database refuses the merged batch. */
function mergeGroups(groups: readonly FoldedGroup[]): FoldedGroup {
  const [first, ...others] = groups as [FoldedGroup, ...FoldedGroup[]]
  if (others.length === 0) return first
  let { oldest, newest } = first
  let count = 0
  const hours = new Map<string, HourSum>()
  const users = new Map<string, UserSum>()
  const numbered: FoldedGroup['identified'] = []
  for (const group of groups) {
    if (group.oldest.occurred_at < oldest.occurred_at) oldest = group.oldest
    if (group.newest.occurred_at >= newest.occurred_at) newest = group.newest
    for (const sum of group.hours.values()) addHour(hours, sum)
    for (const sum of group.users.values()) addUser(users, sum)
    for (const event of group.identified) numbered.push({ ...event, position: event.position + count })
    count += group.count
  }
  const kept = groups.flatMap((group) => group.kept)
  return FoldedGroup.fromJSON({
    ...{ oldest, newest, count, kept, numbered },
    ...{ hours: [...hours.values()], users: [...users.values()] },
    commits: [...new Set(groups.flatMap(({ commits }) => [...commits]))],
  })
}

function addHour(hours: Map<string, HourSum>, sum: HourSum): void {
  const key = hourKey(sum)
  const count = (hours.get(key)?.count ?? 0) + sum.count
  hours.set(key, { ...sum, count })
}

function addUser(users: Map<string, UserSum>, sum: UserSum): void {
  const known = users.get(sum.user_id)
  users.set(sum.user_id, {
    user_id: sum.user_id,
    count: (known?.count ?? 0) + sum.count,
    first_seen_at: Math.min(known?.first_seen_at ?? Infinity, sum.first_seen_at),
    last_seen_at: Math.max(known?.last_seen_at ?? -Infinity, sum.last_seen_at),
  })
}

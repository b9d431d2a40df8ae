interface Occurrence {
  scope: string
  error_id: number
  occurred_at: number
}

/** Reference: compares every two occurrences to find errors that follow another within a minute. */
export function referenceCascades(all: readonly Occurrence[], { from, to }: { from: number; to: number }) {
  const parents = new Map<number, number>()
  const pairs: { parent: number; child: number; followed_count: number; delay_ms: number }[] = []
  for (const parent of all) {
    if (parent.occurred_at < from || parent.occurred_at >= to) continue
    parents.set(parent.error_id, (parents.get(parent.error_id) ?? 0) + 1)
    for (const child of new Set(all.map(({ error_id }) => error_id))) {
      const delays = all
        .filter(({ error_id, scope }) => error_id === child && scope === parent.scope)
        .map(({ occurred_at }) => occurred_at - parent.occurred_at)
        .filter((delay) => delay > 0 && delay <= 60_000)
      if (child === parent.error_id || delays.length === 0) continue
      let pair = pairs.find((known) => known.parent === parent.error_id && known.child === child)
      if (!pair) {
        pair = { parent: parent.error_id, child, followed_count: 0, delay_ms: 0 }
        pairs.push(pair)
      }
      pair.followed_count++
      pair.delay_ms += Math.min(...delays)
    }
  }
  return { parents, pairs }
}

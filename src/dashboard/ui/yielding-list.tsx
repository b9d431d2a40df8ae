import { nextTurn } from '../../model/event-loop-turns.js'
import type { Rendered } from '../define.js'

/** A quarter of the longest stall that a page may cause, because garbage collection may follow. */
const MAX_BLOCKING_MS = 2

/** Renders items in sequence and yields to the event loop in between. */
export async function YieldingList<Item>({
  items,
  render,
}: {
  items: readonly Item[]
  render: (item: Item) => Rendered
}): Promise<Rendered[]> {
  const parts: Rendered[] = []
  let startedAt = performance.now()
  for (const item of items) {
    parts.push(render(item))
    if (performance.now() - startedAt < MAX_BLOCKING_MS) continue
    await nextTurn()
    startedAt = performance.now()
  }
  return parts
}

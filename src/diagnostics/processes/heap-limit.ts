import { getHeapStatistics } from 'node:v8'

const MB = 1024 * 1024
/** What V8 sets aside for new objects unless it is told otherwise; the limit that Node.js tells includes it. */
const YOUNG_BYTES = (Number(process.versions.node.split('.')[0]) >= 24 ? 192 : 48) * MB

let known: number | null = null

/** How much the old generation may hold before the process dies of it. It never changes while the process runs. */
export function heapLimit(): number {
  if (known === null) {
    const limit = getHeapStatistics().heap_size_limit
    // With a young generation of another size, the smallest of heaps would have none left.
    known = limit - YOUNG_BYTES >= 16 * MB ? limit - YOUNG_BYTES : limit
  }
  return known
}

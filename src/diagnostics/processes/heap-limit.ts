import { getHeapStatistics } from 'node:v8'

const MB = 1024 * 1024
/** Default size of the young generation, which the limit of Node.js includes. */
const YOUNG_GENERATION_BYTES = (Number(process.versions.node.split('.')[0]) >= 24 ? 192 : 48) * MB

let cachedLimit: number | null = null

/** Returns the size of the old generation at which V8 aborts the process. The size does not change at runtime. */
export function heapLimit(): number {
  if (cachedLimit === null) {
    const total = getHeapStatistics().heap_size_limit
    const oldGeneration = total - YOUNG_GENERATION_BYTES
    // A very small heap has a smaller young generation.
    cachedLimit = oldGeneration >= 16 * MB ? oldGeneration : total
  }
  return cachedLimit
}

import { statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { dirname } from 'node:path'
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8'
import { TrackerError } from '../../model/errors.js'
import { MAX_FILE_BYTES } from './dump-files.js'
import { runExclusively } from './run-exclusively.js'

const MB = 1024 * 1024

/** A larger heap would block the process for longer than typical request timeouts. */
const MAX_HEAP_BYTES = 512 * MB
/** V8 builds the snapshot in memory in addition to the heap. */
const SIZE_FACTOR = 2
/** Memory and disk space that must stay free for other processes. */
const RESERVE_BYTES = 64 * MB

export interface SnapshotResources {
  heapBytes: number
  freeMemoryBytes: number
  freeDiskBytes: number
}

/** Writes a heap snapshot, which blocks the process. Throws if the pause or the required space is too large. */
export async function writeHeapSnapshotFile(path: string): Promise<void> {
  await runExclusively('a heap snapshot', async () => {
    assertSafe(await readResources(dirname(path)))
    writeHeapSnapshot(path)
  })
}

/** Throws if a snapshot would endanger the process or its machine. */
export function assertSafe({ heapBytes, freeMemoryBytes, freeDiskBytes }: SnapshotResources): void {
  const needed = heapBytes * SIZE_FACTOR + RESERVE_BYTES
  if (heapBytes > MAX_HEAP_BYTES) {
    throw rejection(
      `a heap of ${formatMb(heapBytes)} would block the process for ${estimatePause(heapBytes)}. The limit is ${formatMb(MAX_HEAP_BYTES)}`,
    )
  }
  if (needed > freeMemoryBytes) {
    throw rejection(`it needs about ${formatMb(needed)} of memory, but only ${formatMb(freeMemoryBytes)} is free`)
  }
  if (needed > Math.min(freeDiskBytes, MAX_FILE_BYTES)) {
    throw rejection(`it needs about ${formatMb(needed)} on disk, but only ${formatMb(freeDiskBytes)} is free`)
  }
}

async function readResources(folder: string): Promise<SnapshotResources> {
  const { bavail, bsize } = await statfs(folder)
  const { used_heap_size } = getHeapStatistics()
  // The limit of a container can be lower than the free memory of the machine.
  const freeMemoryBytes = Math.min(freemem() || Infinity, process.availableMemory?.() ?? Infinity)
  return { heapBytes: used_heap_size, freeMemoryBytes, freeDiskBytes: bavail * bsize }
}

function rejection(reason: string): TrackerError {
  return new TrackerError('not_possible_now', `Cannot capture a heap snapshot: ${reason}.`)
}

function formatMb(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`
}

/** One to two seconds per 30 MB. */
function estimatePause(bytes: number): string {
  const seconds = Math.round(bytes / MB / 30)
  return `${seconds} to ${seconds * 2} seconds`
}

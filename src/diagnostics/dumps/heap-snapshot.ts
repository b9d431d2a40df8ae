import { statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { dirname } from 'node:path'
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8'
import { TrackerError } from '../../model/errors.js'
import { MAX_FILE_BYTES } from './dump-files.js'
import { oneAtATime } from './one-at-a-time.js'

const MB = 1024 * 1024

/** A larger heap would hold the process for longer than its clients wait. */
const MAX_HEAP_BYTES = 512 * MB
/** V8 builds the whole snapshot in memory beside the heap. */
const NEEDED_TIMES = 2
/** So much stays free for everybody else. */
const RESERVE_BYTES = 64 * MB

export interface Room {
  heap_bytes: number
  memory_bytes: number
  disk_bytes: number
}

/** Writes every object of the heap. The process stands still meanwhile: refused where that, or the room, is a danger. */
export async function writeHeap(path: string): Promise<void> {
  await oneAtATime('a heap snapshot', async () => {
    refuseDanger(await roomFor(dirname(path)))
    writeHeapSnapshot(path)
  })
}

/** Throws the reason why a snapshot would be a danger to the process or to its machine. */
export function refuseDanger({ heap_bytes, memory_bytes, disk_bytes }: Room): void {
  const needed = heap_bytes * NEEDED_TIMES + RESERVE_BYTES
  if (heap_bytes > MAX_HEAP_BYTES) {
    throw refused(
      `the heap holds ${inMb(heap_bytes)}, for which the process would stand still for ${stillFor(heap_bytes)}; the most is ${inMb(MAX_HEAP_BYTES)}`,
    )
  }
  if (needed > memory_bytes) {
    throw refused(`it would need about ${inMb(needed)} of memory, and ${inMb(memory_bytes)} are free`)
  }
  if (needed > Math.min(disk_bytes, MAX_FILE_BYTES)) {
    throw refused(`it would need about ${inMb(needed)} on disk, and ${inMb(disk_bytes)} are free`)
  }
}

async function roomFor(folder: string): Promise<Room> {
  const { bavail, bsize } = await statfs(folder)
  const { used_heap_size } = getHeapStatistics()
  // Inside a container, what the machine has free is no measure.
  const memory_bytes = Math.min(freemem() || Infinity, process.availableMemory?.() ?? Infinity)
  return { heap_bytes: used_heap_size, memory_bytes, disk_bytes: bavail * bsize }
}

function refused(why: string): TrackerError {
  return new TrackerError('not_possible_now', `The heap snapshot was not taken: ${why}.`)
}

function inMb(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`
}

/** One to two seconds for 30 MB. */
function stillFor(bytes: number): string {
  const seconds = Math.round(bytes / MB / 30)
  return `${seconds} to ${seconds * 2} seconds`
}

import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { type DumpFile, keepFile, removeFiles } from './dump-files.js'
import { dumpOptions } from './options.js'

export interface WantedFiles {
  cpu_profile_ms: number
  heap_snapshot: boolean
}

/** Takes what was asked for beside the dump itself. Nothing of it is loaded before. */
export async function takeFiles(context: Context, { cpu_profile_ms, heap_snapshot }: WantedFiles): Promise<DumpFile[]> {
  if (heap_snapshot && !readOptions(context.config, dumpOptions).enable_heap_snapshots) {
    throw new TrackerError(
      'switched_off',
      'Heap snapshots are switched off: one holds every secret of the process in clear. Set enable_heap_snapshots to true in the configuration to allow them.',
    )
  }
  const files: DumpFile[] = []
  try {
    if (cpu_profile_ms > 0) {
      const { writeCpuProfile } = await import('./cpu-profile.js')
      files.push(await keepFile(context, 'cpu_profile', (path) => writeCpuProfile(path, cpu_profile_ms)))
    }
    if (heap_snapshot) {
      const { writeHeap } = await import('./heap-snapshot.js')
      files.push(await keepFile(context, 'heap_snapshot', writeHeap))
    }
    return files
  } catch (error) {
    await removeFiles(context, files)
    throw error
  }
}

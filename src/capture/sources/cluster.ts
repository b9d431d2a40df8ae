import type { ChildProcess } from 'node:child_process'
import type { Cluster, Worker } from 'node:cluster'

/** The cluster worker of a forked process, or null. */
export function findClusterWorker(child: ChildProcess): Worker | null {
  // Not imported, so that a host without child processes never loads it.
  const cluster = (process as { getBuiltinModule?(name: string): unknown }).getBuiltinModule?.('node:cluster') as
    | Cluster
    | undefined
  return Object.values(cluster?.workers ?? {}).find((worker) => worker?.process === child) ?? null
}

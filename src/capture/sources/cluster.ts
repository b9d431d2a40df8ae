import type { ChildProcess } from 'node:child_process'
import type { Cluster, Worker } from 'node:cluster'

/** The cluster's worker behind a forked process, or null when it is none. */
export function clusterWorkerOf(child: ChildProcess): Worker | null {
  // Not imported: a host that forks nothing never loads it.
  const cluster = (process as { getBuiltinModule?(name: string): unknown }).getBuiltinModule?.('node:cluster') as
    | Cluster
    | undefined
  return Object.values(cluster?.workers ?? {}).find((worker) => worker?.process === child) ?? null
}

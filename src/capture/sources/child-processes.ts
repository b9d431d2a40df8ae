import type { ChildProcess } from 'node:child_process'
import type { Cluster, Worker } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { collectLeftovers, hasLeftReport } from '../crash/leftovers.js'
import { namedError } from '../crash/named-error.js'
import { removeMarkersByPid } from '../crash/running-marker.js'
import type { Reporter, Source } from './source.js'

const CHILD_CHANNEL = 'child_process'
/** Signals that indicate a crash. Other signals are the usual way to stop a process. */
const FATAL_SIGNALS = new Set(['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS'])

/**
 * Records cluster workers and forked processes that a fatal signal ends, because such a process cannot record its own
 * end. The tracker of each process records everything else.
 */
export const childProcesses: Source = (reporter) => {
  const cleanups = new Set<() => void>()

  const onChild = (message: unknown) => {
    const child = (message as { process: ChildProcess }).process
    let worker: Worker | null = null
    // The cluster registers the worker one tick after creation, and removes it on disconnect.
    process.nextTick(() => {
      if (isForked(child)) worker = findClusterWorker(child)
    })
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) => {
      if (signal === null || !FATAL_SIGNALS.has(signal) || !isForked(child) || child.killed) return
      if (!worker?.exitedAfterDisconnect) recordKilledProcess(reporter, { child, worker, signal })
    }
    const end = () => {
      child.off('exit', onExit)
      child.off('close', end)
      cleanups.delete(end)
    }
    child.on('exit', onExit)
    child.on('close', end)
    cleanups.add(end)
  }

  subscribe(CHILD_CHANNEL, onChild)
  return () => {
    unsubscribe(CHILD_CHANNEL, onChild)
    for (const end of cleanups) end()
  }
}

/** Only a forked Node.js process has an IPC channel. */
function isForked(child: ChildProcess): boolean {
  return typeof child.send === 'function'
}

interface KilledProcess {
  child: ChildProcess
  worker: Worker | null
  signal: NodeJS.Signals
}

function recordKilledProcess(reporter: Reporter, { child, worker, signal }: KilledProcess): void {
  if (hasOwnReport(reporter, child.pid)) return
  const { pid } = child
  const [name, subject] = worker ? ['WorkerKilled', 'A cluster worker'] : ['ChildProcessKilled', 'A forked process']
  reporter.report(namedError(name, `${subject} was killed by ${signal}`), {
    source: worker ? 'cluster' : 'child_process',
    unhandled: true,
    context: {
      signal,
      pid,
      ...(worker ? { worker_id: worker.id } : { script: child.spawnargs.slice(1).find((arg) => !arg.startsWith('-')) }),
    },
  })
}

/**
 * Checks whether the process left its own report. Otherwise, removes its marker, which would record the same end again.
 */
function hasOwnReport(reporter: Reporter, pid: number | undefined): boolean {
  const folder = reporter.context.recorder.crashFolder
  if (folder === null || pid === undefined) return false
  if (!hasLeftReport(folder, pid)) {
    removeMarkersByPid(folder, pid)
    return false
  }
  collectLeftovers(reporter).catch(() => reporter.context.counters.add('failed: reading a diagnostic report'))
  return true
}

/** The cluster worker of a forked process, or null. */
function findClusterWorker(child: ChildProcess): Worker | null {
  // Not imported, so that a host without child processes never loads it.
  const cluster = (process as { getBuiltinModule?(name: string): unknown }).getBuiltinModule?.('node:cluster') as
    | Cluster
    | undefined
  return Object.values(cluster?.workers ?? {}).find((worker) => worker?.process === child) ?? null
}

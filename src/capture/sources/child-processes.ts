import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { collectLeftovers, hasLeftReport } from '../crash/leftovers.js'
import { namedError } from '../crash/named-error.js'
import { forgetRunning } from '../crash/running-marker.js'
import { clusterWorkerOf } from './cluster.js'
import type { Reporter, Source } from './source.js'

const NEW_CHILD = 'child_process'
/** Those by which a process is ended against its will. Others are the ordinary way to ask one to go. */
const FATAL = new Set(['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS'])

/**
 * Records the workers of a cluster and the forked processes that a fatal signal ends: they cannot do it themselves.
 * What else ends them, their own trackers record.
 */
export const childProcesses: Source = (reporter) => {
  const endings = new Set<() => void>()

  const onChild = (message: unknown) => {
    const child = (message as { process: ChildProcess }).process
    let worker: Worker | null = null
    // The cluster knows it a moment after it is made, and forgets it when it is asked to go.
    process.nextTick(() => {
      if (isForked(child)) worker = clusterWorkerOf(child)
    })
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) => {
      if (signal === null || !FATAL.has(signal) || !isForked(child) || child.killed) return
      if (!worker?.exitedAfterDisconnect) recordDeath(reporter, { child, worker, signal })
    }
    const end = () => {
      child.off('exit', onExit)
      child.off('close', end)
      endings.delete(end)
    }
    child.on('exit', onExit)
    child.on('close', end)
    endings.add(end)
  }

  subscribe(NEW_CHILD, onChild)
  return () => {
    unsubscribe(NEW_CHILD, onChild)
    for (const end of endings) end()
  }
}

/** What is no Node.js of the host's own has no channel to it. */
function isForked(child: ChildProcess): boolean {
  return typeof child.send === 'function'
}

interface Death {
  child: ChildProcess
  worker: Worker | null
  signal: NodeJS.Signals
}

function recordDeath(reporter: Reporter, { child, worker, signal }: Death): void {
  if (isToldBetter(reporter, child.pid)) return
  const { pid } = child
  const [name, what] = worker ? ['WorkerKilled', 'A worker of the cluster'] : ['ChildProcessKilled', 'A forked process']
  reporter.report(namedError(name, `${what} was ended by ${signal}`), {
    source: worker ? 'cluster' : 'child_process',
    unhandled: true,
    context: {
      signal,
      pid,
      ...(worker ? { worker_id: worker.id } : { script: child.spawnargs.slice(1).find((one) => !one.startsWith('-')) }),
    },
  })
}

/** Whether the process has left a report of its own end; if not, its marker would tell once more what we tell now. */
function isToldBetter(reporter: Reporter, pid: number | undefined): boolean {
  const folder = reporter.context.recorder.crash_folder
  if (folder === null || pid === undefined) return false
  if (!hasLeftReport(folder, pid)) {
    forgetRunning(folder, pid)
    return false
  }
  collectLeftovers(reporter).catch(() => reporter.context.counters.add('failed: reading a diagnostic report'))
  return true
}

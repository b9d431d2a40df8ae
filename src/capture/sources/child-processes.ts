import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { collectLeftovers, hasLeftReport } from '../crash/leftovers.js'
import { namedError } from '../crash/named-error.js'
import { forgetRunning } from '../crash/running-marker.js'
import { clusterWorkerOf } from './cluster.js'
import type { Reporter, Source } from './source.js'

const NEW_CHILD = 'child_process'
/** Signals that end a process involuntarily. Others are the usual way to stop it. */
const FATAL = new Set(['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS'])

/**
 * Records cluster workers and forked processes that are ended by a fatal signal, which they cannot record themselves.
 * Their own trackers record everything else.
 */
export const childProcesses: Source = (reporter) => {
  const endings = new Set<() => void>()

  const onChild = (message: unknown) => {
    const child = (message as { process: ChildProcess }).process
    let worker: Worker | null = null
    // The cluster registers the worker one tick after creation, and removes it on disconnect.
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

/** Only a forked Node.js process has an IPC channel. */
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
  const [name, what] = worker ? ['WorkerKilled', 'A cluster worker'] : ['ChildProcessKilled', 'A forked process']
  reporter.report(namedError(name, `${what} was killed by ${signal}`), {
    source: worker ? 'cluster' : 'child_process',
    unhandled: true,
    context: {
      signal,
      pid,
      ...(worker ? { worker_id: worker.id } : { script: child.spawnargs.slice(1).find((one) => !one.startsWith('-')) }),
    },
  })
}

/** Whether the process left its own report. If not, removes its marker, which would record the same end again. */
function isToldBetter(reporter: Reporter, pid: number | undefined): boolean {
  const folder = reporter.context.recorder.crashFolder
  if (folder === null || pid === undefined) return false
  if (!hasLeftReport(folder, pid)) {
    forgetRunning(folder, pid)
    return false
  }
  collectLeftovers(reporter).catch(() => reporter.context.counters.add('failed: reading a diagnostic report'))
  return true
}

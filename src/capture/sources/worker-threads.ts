import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { errorMonitor } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { endedThreads } from './ended-threads.js'
import { announceThrow } from './process.js'
import type { Source } from './source.js'

const WORKER_CHANNEL = 'worker_threads'

/**
 * Records the error that ends a worker thread, unless a tracker in the thread has done so. Uses the error monitor,
 * because an `error` listener would prevent the host from ending on an unhandled error.
 */
export const workerThreads: Source = ({ report }) => {
  const cleanups = new Set<() => void>()
  const stopSharing = endedThreads.share()

  const onWorker = (message: unknown) => {
    const { worker } = message as { worker: Worker }
    // The worker loses its id when it ends.
    const threadId = worker.threadId
    const onError = (error: unknown) => {
      const unhandled = worker.listenerCount('error') === 0
      if (unhandled) announceThrow(error)
      if (endedThreads.hasEnded(threadId)) return
      report(error, { source: 'worker_thread', unhandled, context: { thread_id: threadId } })
    }
    const end = () => {
      worker.off(errorMonitor, onError)
      worker.off('exit', end)
      cleanups.delete(end)
    }
    worker.on(errorMonitor, onError)
    worker.on('exit', end)
    cleanups.add(end)
  }

  subscribe(WORKER_CHANNEL, onWorker)
  return () => {
    unsubscribe(WORKER_CHANNEL, onWorker)
    for (const end of cleanups) end()
    stopSharing()
  }
}

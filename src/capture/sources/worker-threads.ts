import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { errorMonitor } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { endOfThread } from './ended-threads.js'
import { willBeThrown } from './process.js'
import type { Source } from './source.js'

const NEW_WORKER = 'worker_threads'

/**
 * Records the error that ends a worker thread, unless a tracker in the thread has done so. Uses the error monitor,
 * because an `error` listener would prevent the host from ending on an unhandled error.
 */
export const workerThreads: Source = ({ report }) => {
  const endings = new Set<() => void>()
  const stopSharing = endOfThread.share()

  const onWorker = (message: unknown) => {
    const { worker } = message as { worker: Worker }
    // The worker loses its id when it ends.
    const thread_id = worker.threadId
    const onError = (error: unknown) => {
      const unhandled = worker.listenerCount('error') === 0
      if (unhandled) willBeThrown(error)
      if (endOfThread.wasAnnounced(thread_id)) return
      report(error, { source: 'worker_thread', unhandled, context: { thread_id } })
    }
    const end = () => {
      worker.off(errorMonitor, onError)
      worker.off('exit', end)
      endings.delete(end)
    }
    worker.on(errorMonitor, onError)
    worker.on('exit', end)
    endings.add(end)
  }

  subscribe(NEW_WORKER, onWorker)
  return () => {
    unsubscribe(NEW_WORKER, onWorker)
    for (const end of endings) end()
    stopSharing()
  }
}

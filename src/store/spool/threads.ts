import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import type { Database } from '../database.js'

/** Named for the folder, so that trackers of different databases do not wake each other. */
const CHANNEL = 'faultboard:spool:'
const NEW_WORKER = 'worker_threads'

/**
 * Whether this thread has to leave its batches to another one: below Node.js 24, a process that exits while a worker
 * thread is in the middle of a query of the embedded SQLite is aborted.
 */
export function mustLeaveToMainThread({ dialect }: Database): boolean {
  if (isMainThread || Number(process.versions.node.split('.')[0]) >= 24) return false
  return dialect.isEmbedded && dialect.migrates_itself
}

/** Tells the main thread that files wait in the folder. When nobody listens, they wait for the next start. */
export function ringForImport(folder: string): void {
  if (isMainThread) return
  const channel = new BroadcastChannel(CHANNEL + folder)
  channel.postMessage(null)
  channel.close()
}

/**
 * Calls back when a worker thread has left files in the folder. A process without worker threads opens nothing. Gives
 * the function that ends it.
 */
export function answerWorkers(folder: string, onRing: () => void): () => void {
  if (!isMainThread) return () => undefined
  let channel: BroadcastChannel | null = null
  const onWorker = () => {
    if (channel) return
    channel = new BroadcastChannel(CHANNEL + folder)
    channel.onmessage = onRing
    ;(channel as unknown as { unref(): void }).unref()
  }
  subscribe(NEW_WORKER, onWorker)
  return () => {
    unsubscribe(NEW_WORKER, onWorker)
    channel?.close()
  }
}

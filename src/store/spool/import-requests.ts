import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import type { DatabaseTarget } from '../database-target.js'
import { builtInSqlite } from '../dialects/sqlite-library.js'

/** The folder follows this prefix, so that trackers of different databases do not notify each other. */
const CHANNEL_PREFIX = 'faultboard:spool:'
/** Diagnostics channel of Node.js that reports new worker threads. */
const NEW_WORKER = 'worker_threads'

/**
 * Returns true if this thread must leave its batches in the spool. With `@photostructure/sqlite`, a process aborts if
 * it exits while a worker thread runs a query.
 */
export function mustUseSpool({ isOwnFile }: DatabaseTarget): boolean {
  return !isMainThread && isOwnFile && builtInSqlite() === null
}

/** Requests an import by the main thread. Without a listener, the files wait for the next start. */
export function requestImport(folder: string): void {
  if (isMainThread) return
  const channel = new BroadcastChannel(CHANNEL_PREFIX + folder)
  channel.postMessage(null)
  channel.close()
}

/**
 * Calls back when a worker thread has left files in the folder. Opens no channel before the first worker thread starts.
 * Returns the function that stops listening.
 */
export function listenForImportRequests(folder: string, onRequest: () => void): () => void {
  if (!isMainThread) return () => undefined
  let channel: BroadcastChannel | null = null
  const onWorker = () => {
    if (channel) return
    channel = new BroadcastChannel(CHANNEL_PREFIX + folder)
    channel.onmessage = onRequest
    ;(channel as unknown as { unref(): void }).unref()
  }
  subscribe(NEW_WORKER, onWorker)
  return () => {
    unsubscribe(NEW_WORKER, onWorker)
    channel?.close()
  }
}

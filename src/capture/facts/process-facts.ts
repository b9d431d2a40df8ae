import { hostname } from 'node:os'
import { isMainThread, threadId } from 'node:worker_threads'

/** Facts shared by all errors of this process. */
export function processFacts(): Readonly<Record<string, unknown>> {
  return Object.freeze({
    hostname: hostname(),
    pid: process.pid,
    node_version: process.version,
    ...(isMainThread ? {} : { thread_id: threadId }),
  })
}

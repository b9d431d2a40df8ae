import { thrownMessage } from '../capture/values/thrown-value.js'
import type { CollectorSetup } from './define.js'

/**
 * Starts a collector whose modules are loaded on demand, so that hosts without the collector never load its modules.
 * Stops the collector at once if the tracker stopped while the modules were loading.
 */
export function loadLater({ context }: CollectorSetup, subject: string, start: () => Promise<() => void>): () => void {
  let isStopped = false
  let stop: (() => void) | null = null
  start().then(
    (started) => {
      if (isStopped) started()
      else stop = started
    },
    (error: unknown) => context.log.warn(`${subject} cannot be measured: ${thrownMessage(error)}`),
  )
  return () => {
    isStopped = true
    stop?.()
    stop = null
  }
}

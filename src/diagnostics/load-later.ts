import { thrownMessage } from '../capture/values/thrown-value.js'
import type { CollectorSetup } from './define.js'

/**
 * Starts a collector that is loaded on demand, so that a host that does not use it never loads its modules. A tracker
 * that stops earlier never starts it.
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

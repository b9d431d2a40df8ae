import { holdGcMonitor } from '../processes/gc-monitor.js'
import { endProfile } from './cpu-profile.js'

/** Observes garbage collection for later dumps. Stopping ends a CPU profile that is still running. */
export function collectForDumps(): () => void {
  const releaseGcMonitor = holdGcMonitor()
  return () => {
    releaseGcMonitor()
    endProfile()
  }
}

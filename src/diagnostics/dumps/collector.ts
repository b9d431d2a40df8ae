import { holdGcMonitor } from '../processes/gc-monitor.js'
import { endProfile } from './cpu-profile.js'

/** Monitors garbage collection for later dumps. Stopping ends a running CPU profile. */
export function collectForDumps(): () => void {
  const releaseGcMonitor = holdGcMonitor()
  return () => {
    releaseGcMonitor()
    endProfile()
  }
}

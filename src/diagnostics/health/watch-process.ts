import { isMainThread } from 'node:worker_threads'
import type { CaptureContext } from '../../capture/capture-context.js'
import { endProfile } from '../dump/cpu-profile.js'
import { holdGcMonitor } from './gc-monitor.js'
import { ProcessHealthRecorder } from './process-health-recorder.js'
import { SystemHealthMeter } from './system-health.js'

/** Begins to measure what the switches ask for; gives the function that ends it. */
export function watchProcess(context: CaptureContext, { writes }: { writes: boolean }): () => void {
  const { enable_system_health, enable_process_health } = context.config
  const ends = [holdGcMonitor(), endProfile]
  if (enable_system_health) {
    const meter = new SystemHealthMeter()
    context.systemHealth = () => meter.read()
    ends.push(() => meter.stop())
  }
  // The threads of a process share its memory and its processor: it is one process.
  if (enable_process_health && writes && isMainThread) {
    const recorder = new ProcessHealthRecorder(context)
    ends.push(() => recorder.stop())
  }
  return () => {
    context.systemHealth = null
    for (const end of ends) end()
  }
}

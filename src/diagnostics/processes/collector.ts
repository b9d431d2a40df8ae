import { isMainThread } from 'node:worker_threads'
import { addHook } from '../../capture/hooks.js'
import { readOptions } from '../../config/options.js'
import type { CollectorSetup } from '../define.js'
import { holdGcMonitor } from './gc-monitor.js'
import { processOptions } from './options.js'
import { ProcessHealthRecorder } from './process-health-recorder.js'
import { SystemHealthMeter } from './system-health.js'

/** Measures the process for its errors (`enable_system_health`) and charts (`enable_process_health`). */
export function collectProcessHealth({ context, canWrite }: CollectorSetup): () => void {
  const { enable_system_health, enable_process_health } = readOptions(context.config, processOptions)
  const stops = [holdGcMonitor()]
  if (enable_system_health) {
    const meter = new SystemHealthMeter()
    stops.push(
      addHook(context.hooks.onDraft, {
        name: 'measuring the process',
        run(draft) {
          draft.system_health = meter.read()
        },
      }),
      () => meter.stop(),
    )
  }
  // The threads of a process share its memory and CPU time, so only the main thread reports.
  if (enable_process_health && canWrite && isMainThread) {
    const recorder = new ProcessHealthRecorder(context)
    stops.push(() => recorder.stop())
  }
  return () => {
    for (const stop of stops) stop()
  }
}

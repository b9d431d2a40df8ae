// Starts a tracker and counts the performance observers and histograms that it creates.
import { syncBuiltinESMExports } from 'node:module'
import perf_hooks from 'node:perf_hooks'

const created = { observers: 0, histograms: 0 }
const { PerformanceObserver, monitorEventLoopDelay } = perf_hooks
perf_hooks.PerformanceObserver = class extends PerformanceObserver {
  observe(options) {
    if (options.entryTypes?.includes('gc')) created.observers++
    super.observe(options)
  }
}
perf_hooks.monitorEventLoopDelay = (options) => {
  created.histograms++
  return monitorEventLoopDelay(options)
}
syncBuiltinESMExports()

const { createTracker } = await import('../../../dist/index.js')
const { settings, action } = JSON.parse(process.env.SCRIPT_OPTIONS)
const tracker = createTracker(settings)
await tracker.ready()
if (action === 'fail') await tracker.Commands.LogError.call({ exception: new Error('x') })
if (action === 'profile') {
  await tracker.Commands.CaptureDiagnosticDump.call({ cpu_profile_ms: 300 })
  void tracker.Commands.CaptureDiagnosticDump.call({ cpu_profile_ms: 30_000 }).catch(() => {})
  await new Promise((resume) => setTimeout(resume, 1000))
  await tracker.shutdown()
}
if (action === 'throw') {
  setTimeout(() => {
    throw new Error('the host fails')
  }, 50)
}
process.on('exit', () => console.log(JSON.stringify(created)))

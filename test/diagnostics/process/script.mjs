// A script that starts the tracker and has nothing else to do. It counts what the tracker made of the measuring tools.
import { syncBuiltinESMExports } from 'node:module'
import perf_hooks from 'node:perf_hooks'

const made = { observers: 0, histograms: 0 }
const { PerformanceObserver, monitorEventLoopDelay } = perf_hooks
perf_hooks.PerformanceObserver = class extends PerformanceObserver {
  observe(options) {
    if (options.entryTypes?.includes('gc')) made.observers++
    super.observe(options)
  }
}
perf_hooks.monitorEventLoopDelay = (options) => {
  made.histograms++
  return monitorEventLoopDelay(options)
}
syncBuiltinESMExports()

const { createTracker } = await import('../../../dist/index.js')
const { settings, deed } = JSON.parse(process.env.ORDERS)
const tracker = createTracker(settings)
await tracker.ready()
if (deed === 'fail') await tracker.Commands.LogError.call({ exception: new Error('x') })
if (deed === 'await') await tracker.Commands.CaptureDiagnosticDump.call({ cpu_profile_ms: 300 })
if (deed === 'profile') {
  void tracker.Commands.CaptureDiagnosticDump.call({ cpu_profile_ms: 30_000 }).catch(() => {})
  await new Promise((resume) => setTimeout(resume, 1000))
  await tracker.shutdown()
}
if (deed === 'throw') {
  setTimeout(() => {
    throw new Error('the host fails')
  }, 50)
}
process.on('exit', () => console.log(JSON.stringify(made)))

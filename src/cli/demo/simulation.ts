import { Sample } from './sample.js'
import type { SimulationInput, SimulationMessage } from './simulation-process.js'

/*
 * Program of a separate process, so that recording the history does not slow down the shop and its dashboard. Ends
 * when the demo disconnects.
 */
const stop = new AbortController()
process.once('disconnect', () => stop.abort())
// The terminal sends Ctrl+C to both processes. The demo disconnects after its last request.
process.on('SIGINT', () => {})
process.once('message', (input: SimulationInput) => void simulate(input))

async function simulate({ shop_url, ...options }: SimulationInput): Promise<void> {
  try {
    const sample = await Sample.open(options)
    try {
      await sample.start(new URL(shop_url), stop.signal)
      report({ state: 'ready' })
      void sample.historyComplete().then(() => report({ state: 'complete' }))
      await sample.running()
    } finally {
      await sample.close()
    }
  } catch (error) {
    report({ state: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
  if (process.connected) process.disconnect()
}

function report(message: SimulationMessage): void {
  if (process.connected) process.send?.(message)
}

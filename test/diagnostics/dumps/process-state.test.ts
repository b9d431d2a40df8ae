import { expect, test } from 'vitest'
import { eventLoopSection } from '../../../src/diagnostics/dumps/process-state.js'

test('measures the delay of an event loop that is blocked for the whole sample', async () => {
  const section = eventLoopSection()
  blockEventLoop(200)
  const { delay_mean_ms, delay_p50_ms, delay_p99_ms, delay_max_ms } = await section
  for (const delay of [delay_mean_ms, delay_p50_ms, delay_p99_ms, delay_max_ms]) {
    expect(delay).toBeGreaterThanOrEqual(0)
  }
})

function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

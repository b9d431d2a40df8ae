// Measures one subject in its own process: microseconds per thrown error by frames, nanoseconds per await.
import { setTimeout as sleep } from 'node:timers/promises'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { startSubject } from './variables-subjects.mjs'

const WARM_THROWS = 50

const { subject, frames, throws, awaits } = await receiveTask()
const stop = await startSubject(subject)
const results = {}
for (const depth of frames) {
  measureThrows(depth, WARM_THROWS)
  // Waits until the second in which the limit was reached is over.
  await sleep(1200)
  results[depth] = median(measureThrows(depth, throws))
  await sleep(1200)
}
await run(awaits)
results.await = Math.min(await run(awaits), await run(awaits), await run(awaits))
sendResult(results)
await stop()
// Exits explicitly, because a peer's worker keeps the process alive.
setTimeout(() => process.exit(), 2000).unref()

function measureThrows(depth, count) {
  const times = []
  for (let i = 0; i < count; i++) {
    const started = performance.now()
    try {
      // The module, this function and the last function add three frames.
      descend(depth - 3, { order: { id: i, lines: [1, 2, 3] }, user: 'ada' })
    } catch {
      // Only the throw is measured.
    }
    times.push((performance.now() - started) * 1000)
  }
  return times
}

function descend(depth, request) {
  const level = { depth, request }
  const total = request.order.id * depth
  if (depth <= 0) throw new Error(`The order could not be charged: ${total}`)
  return descend(level.depth - 1, request)
}

/** Returns nanoseconds per await. */
async function run(count) {
  const started = performance.now()
  for (let i = 0; i < count; i++) await null
  return ((performance.now() - started) * 1e6) / count
}

// One subject in a process of its own: microseconds of a thrown error with so many frames, nanoseconds of an await.
import { setTimeout as sleep } from 'node:timers/promises'
import { answer, task } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { startSubject } from './variables-subjects.mjs'

const WARM_THROWS = 50

const { subject, frames, throws, awaits } = await task()
const stop = await startSubject(subject)
const results = {}
for (const depth of frames) {
  timesOf(depth, WARM_THROWS)
  // The second in which the limit was reached has to be over.
  await sleep(1200)
  results[depth] = median(timesOf(depth, throws))
  await sleep(1200)
}
await run(awaits)
results.await = Math.min(await run(awaits), await run(awaits), await run(awaits))
answer(results)
await stop()
// A worker of a peer would keep the process.
setTimeout(() => process.exit(), 2000).unref()

function timesOf(depth, count) {
  const times = []
  for (let i = 0; i < count; i++) {
    const started = performance.now()
    try {
      // The module, this function and the last one are frames too.
      descend(depth - 3, { order: { id: i, lines: [1, 2, 3] }, user: 'ada' })
    } catch {
      // It is the throw that is measured.
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

/** Nanoseconds per await. */
async function run(count) {
  const started = performance.now()
  for (let i = 0; i < count; i++) await null
  return ((performance.now() - started) * 1e6) / count
}

// Sends a storm of errors in its own process. Reports memory before, at the peak and after. Requires --expose-gc.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { createError } from './errors.mjs'
import { SUBJECTS } from './subjects.mjs'

const ERRORS_PER_TURN = 500

const { subject: name, errors } = await receiveTask()
const subject = await SUBJECTS[name]()
// Warms up, so that one-time compilation and caches do not count.
for (let i = 0; i < 2000; i++) subject.capture(createError(10, `Warm ${i}`))
await subject.drain()
const before = await measureSettled()
let peak = before
const watchPeak = () => {
  const now = memory()
  peak = { all: Math.max(peak.all, now.all), kept: Math.max(peak.kept, now.kept) }
}
const started = performance.now()
for (let sent = 0; sent < errors; sent += ERRORS_PER_TURN) {
  for (let i = 0; i < ERRORS_PER_TURN; i++) subject.capture(createError(10, `Order ${sent + i} could not be charged`))
  watchPeak()
  await turn()
}
const accepted = performance.now()
const watch = setInterval(watchPeak, 20)
await subject.drain()
const drained = performance.now()
clearInterval(watch)
const after = await measureSettled()
await subject.close()
sendResult({ before, peak, after, storm_ms: accepted - started, drained_ms: drained - started })

async function measureSettled() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await sleep(100)
  }
  return memory()
}

/** `kept` excludes the young generation, which V8 enlarges while a program allocates heavily. */
function memory() {
  const all = process.memoryUsage.rss()
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return { all, kept: all - young.physical_space_size }
}

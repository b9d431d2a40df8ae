// One subject in a process of its own: microseconds per error, for each kind of error.
import { setImmediate as turn } from 'node:timers/promises'
import { answer, task } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { DETAILS, errorOf } from './errors.mjs'
import { SUBJECTS } from './subjects.mjs'

// @sentry/node drops what exceeds 64 events in the air without looking at it.
const CHUNK = 50
const WARM_CHUNKS = 30
let number = 0

const { subject: name, kinds, chunks } = await task()
const subject = await SUBJECTS[name]()
const results = {}
// The compiler works beside the main thread, and its time would count: first everything is run until it is done.
for (const kind of kinds) await measure(kind, WARM_CHUNKS)
for (const kind of kinds) {
  results[kind.name] = await measure(kind, chunks)
}
await subject.close()
answer(results)

/**
 * Errors come in chunks. `until_buffered` is the processor time of the calls alone, in which nothing is awaited, the
 * median of the chunks; where draining counts, the turns until everything is processed are added. `all` is that of the
 * whole time, with whatever was done in the background. The clock would also count what other processes do.
 */
async function measure({ frames, distinct, details }, count) {
  const times = []
  const whole = stopwatch()
  for (let chunk = 0; chunk < count; chunk++) {
    const spent = stopwatch()
    for (let i = 0; i < CHUNK; i++) {
      const message = distinct ? `Order ${number++} could not be charged` : 'The order could not be charged'
      subject.capture(errorOf(frames, message), details ? DETAILS : undefined)
    }
    if (!subject.drain_counts) times.push(spent())
    await subject.drain()
    if (subject.drain_counts) times.push(spent())
    await turn()
  }
  return { until_buffered: median(times) / CHUNK, all: whole() / (count * CHUNK) }
}

/** Microseconds of processor time since it was started. */
function stopwatch() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

// Measures one subject in its own process: microseconds per error, for each kind of error.
import { setImmediate as turn } from 'node:timers/promises'
import { answer, task } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { DETAILS, errorOf } from './errors.mjs'
import { SUBJECTS } from './subjects.mjs'

// @sentry/node drops errors without processing them while 64 are in flight.
const CHUNK = 50
const WARM_CHUNKS = 30
let number = 0

const { subject: name, kinds, chunks } = await task()
const subject = await SUBJECTS[name]()
const results = {}
// Warms up first, because the CPU time of the background compiler would count.
for (const kind of kinds) await measure(kind, WARM_CHUNKS)
for (const kind of kinds) {
  results[kind.name] = await measure(kind, chunks)
}
await subject.close()
answer(results)

/**
 * Sends errors in chunks. `until_buffered` is the CPU time of the calls without awaiting, as the median of the chunks.
 * If draining counts, the turns until everything is processed are added. `all` is the CPU time of the whole run,
 * including background work. CPU time excludes other processes, unlike wall-clock time.
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

/** Microseconds of CPU time since the start. */
function stopwatch() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

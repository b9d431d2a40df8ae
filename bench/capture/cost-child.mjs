// Measures one subject in its own process: microseconds per error, for each kind of error.
import { setImmediate as turn } from 'node:timers/promises'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { createError, DETAILS } from './errors.mjs'
import { SUBJECTS } from './subjects.mjs'

// @sentry/node drops errors without processing them while 64 are in flight.
const CHUNK = 50
const WARM_CHUNKS = 30
let number = 0

const { subject: name, kinds, chunks } = await receiveTask()
const subject = await SUBJECTS[name]()
const bare = await SUBJECTS.bare()
const results = {}
// Warms up first, because the CPU time of the background compiler would count.
for (const kind of kinds) await measure(kind, WARM_CHUNKS)
for (const kind of kinds) {
  results[kind.name] = await measure(kind, chunks)
}
await subject.close()
sendResult(results)

/**
 * Sends errors in chunks. `until_buffered` is the CPU time of the calls without awaiting. If draining counts, the turns
 * until everything is processed are added. `all` includes background work. CPU time excludes other processes, unlike
 * wall-clock time. The ratios compare each chunk with a chunk of the bare subject just before it, because the speed of
 * a shared machine changes within seconds. All figures are medians of the chunks.
 */
async function measure(kind, count) {
  const samples = []
  for (let chunk = 0; chunk < count; chunk++) {
    const reference = stopwatch()
    captureChunk(bare, kind)
    const bareTime = reference()
    const elapsed = stopwatch()
    captureChunk(subject, kind)
    const called = elapsed()
    await subject.drain()
    const drained = elapsed()
    await turn()
    const all = elapsed()
    samples.push({ bareTime, buffered: subject.drain_counts ? drained : called, all })
  }
  const figure = (read) => median(samples.map(read))
  return {
    until_buffered: figure(({ buffered }) => buffered) / CHUNK,
    all: figure(({ all }) => all) / CHUNK,
    ratio: figure(({ buffered, bareTime }) => buffered / bareTime),
    ratio_of_all: figure(({ all, bareTime }) => all / bareTime),
  }
}

function captureChunk(receiver, { frames, distinct, details }) {
  for (let i = 0; i < CHUNK; i++) {
    const message = distinct ? `Order ${number++} could not be charged` : 'The order could not be charged'
    receiver.capture(createError(frames, message), details ? DETAILS : undefined)
  }
}

/** Microseconds of CPU time since the start. */
function stopwatch() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

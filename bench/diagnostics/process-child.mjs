// Runs one tracker in its own process and measures an error, an idle process or a dump.
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createTracker } from '../../dist/index.js'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'

const CHUNK = 50

const { action, settings, chunks, seconds, dumps } = await receiveTask()
const folder = mkdtempSync(join(tmpdir(), 'process-'))
const tracker = createTracker({
  database: `sqlite:${join(folder, 'bench.sqlite3')}`,
  application_name: 'bench',
  dashboard_username: 'a',
  dashboard_password: 'b',
  max_full_occurrences_per_minute: 1_000_000,
  ...settings,
})
await tracker.ready()
// Loads lazy modules before the measurement.
await setTimeout(200)
const result = await { capture, idle, dump }[action]()
await tracker.shutdown()
await rm(folder, { recursive: true, force: true })
sendResult(result)

async function capture() {
  const times = []
  for (let chunk = 0; chunk < chunks; chunk++) {
    const elapsed = stopwatch()
    const waiting = Array.from({ length: CHUNK }, () => tracker.Commands.LogError.call({ exception: new Error('x') }))
    // Skips the first runs, which are not yet compiled.
    if (chunk >= chunks / 4) times.push(elapsed())
    await Promise.all(waiting)
  }
  const timers = Array.from({ length: 400 }, () => setInterval(() => {}, 1e6))
  const durations = []
  for (let i = 0; i < 3; i++) {
    await setTimeout(1100)
    const started = performance.now()
    const waiting = tracker.Commands.LogError.call({ exception: new Error('x') })
    durations.push(performance.now() - started)
    await waiting
  }
  for (const timer of timers) clearInterval(timer)
  return { micros: (median(times) * 1000) / CHUNK, measurement_ms: median(durations) }
}

async function idle() {
  const elapsed = stopwatch()
  await setTimeout(seconds * 1000)
  return { share: elapsed() / (seconds * 1000) }
}

async function dump() {
  const captureDump = async (options = {}) => {
    const elapsed = stopwatch()
    await tracker.Commands.CaptureDiagnosticDump.call(options)
    return elapsed()
  }
  const first = await captureDump()
  const further = []
  for (let i = 0; i < dumps; i++) further.push(await captureDump())
  return { first, further: median(further), report: await captureDump({ report: true }) }
}

/** Milliseconds of CPU time since the start. */
function stopwatch() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}

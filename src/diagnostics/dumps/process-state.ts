import { availableParallelism, freemem, hostname, loadavg, totalmem } from 'node:os'
import { basename } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'
import { displayFlags, displayPath } from './node-flags.js'

/** Describes the process. Paths are relative to the project. */
export function processSection(projectRoot: string) {
  return {
    pid: process.pid,
    ppid: process.ppid,
    hostname: hostname(),
    uptime_s: roundTo3(process.uptime()),
    argv0: basename(process.argv0),
    script: process.argv[1] === undefined ? null : displayPath(process.argv[1], projectRoot),
    exec_argv: displayFlags(process.execArgv, projectRoot),
    working_directory: displayPath(process.cwd(), projectRoot),
    thread_id: isMainThread ? null : threadId,
  }
}

export function memorySection() {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage()
  return {
    rss_bytes: rss,
    heap_total_bytes: heapTotal,
    heap_used_bytes: heapUsed,
    external_bytes: external,
    array_buffers_bytes: arrayBuffers,
    system_total_bytes: totalmem(),
    system_free_bytes: freemem(),
  }
}

export function heapSection() {
  const heap = getHeapStatistics()
  return {
    size_limit_bytes: heap.heap_size_limit,
    total_physical_bytes: heap.total_physical_size,
    malloced_bytes: heap.malloced_memory,
    native_contexts: heap.number_of_native_contexts,
    detached_contexts: heap.number_of_detached_contexts,
    spaces: getHeapSpaceStatistics().map((space) => ({
      name: space.space_name,
      size_bytes: space.space_size,
      used_bytes: space.space_used_size,
      available_bytes: space.space_available_size,
    })),
  }
}

const DELAY_SAMPLE_MS = 100
/** A blocked event loop needs two samples. Runtimes that measure nothing must not wait forever. */
const MAX_SAMPLES = 5
const RESOLUTION_MS = 10

/** Measures delay and utilization of the event loop over a short sample. */
export async function eventLoopSection() {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const before = performance.eventLoopUtilization()
  delay.enable()
  // The first tick is no value, so there is none yet if the event loop was blocked for the whole sample.
  for (let samples = 0; delay.count === 0 && samples < MAX_SAMPLES; samples++) {
    // Keeps the process alive, so that a script does not exit before the dump is written.
    await setTimeout(DELAY_SAMPLE_MS)
  }
  delay.disable()
  // The histogram contains the time between two ticks, including the requested interval.
  const toDelayMs = (nanoseconds: number) => roundTo3(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS))
  const hasSamples = delay.count > 0
  // Not available in all supported Node.js versions.
  const { loopCount, events, eventsWaiting } =
    (performance.nodeTiming as { uvMetricsInfo?: UvMetrics }).uvMetricsInfo ?? {}
  return {
    sample_ms: DELAY_SAMPLE_MS,
    utilization: roundTo3(performance.eventLoopUtilization(before).utilization),
    utilization_since_start: roundTo3(performance.eventLoopUtilization().utilization),
    delay_mean_ms: hasSamples ? toDelayMs(delay.mean) : null,
    delay_p50_ms: hasSamples ? toDelayMs(delay.percentile(50)) : null,
    delay_p99_ms: hasSamples ? toDelayMs(delay.percentile(99)) : null,
    delay_max_ms: hasSamples ? toDelayMs(delay.max) : null,
    turns: loopCount ?? null,
    events: events ?? null,
    events_waited_for: eventsWaiting ?? null,
  }
}

interface UvMetrics {
  loopCount?: number
  events?: number
  eventsWaiting?: number
}

export function cpuSection() {
  const { user, system } = process.cpuUsage()
  const usage = process.resourceUsage()
  return {
    user_ms: roundTo3(user / 1000),
    system_ms: roundTo3(system / 1000),
    load_average: loadavg().map(roundTo3),
    parallelism: availableParallelism(),
    max_rss_bytes: usage.maxRSS * 1024,
    file_reads: usage.fsRead,
    file_writes: usage.fsWrite,
    involuntary_context_switches: usage.involuntaryContextSwitches,
  }
}

/** Counts the resources that keep the event loop alive, by kind. */
export function activeResourcesSection(): Record<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
}

function roundTo3(value: number): number {
  return Math.round(value * 1000) / 1000
}

import { availableParallelism, freemem, hostname, loadavg, totalmem } from 'node:os'
import { basename } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'
import { placed, shownFlags } from './node-flags.js'

/** What runs here. Paths are told from the project's root: where that lies is the machine's own affair. */
export function processSection(project_root: string) {
  return {
    pid: process.pid,
    ppid: process.ppid,
    hostname: hostname(),
    uptime_s: rounded(process.uptime()),
    argv0: basename(process.argv0),
    script: process.argv[1] === undefined ? null : placed(process.argv[1], project_root),
    exec_argv: shownFlags(process.execArgv, project_root),
    working_directory: placed(process.cwd(), project_root),
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

const SAMPLE_MS = 100
const RESOLUTION_MS = 10

/** How late the event loop is and how much of its time it works, over a short sample. */
export async function eventLoopSection() {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const before = performance.eventLoopUtilization()
  delay.enable()
  // It holds the process for this moment: somebody awaits the dump, and a script must not end before it is written.
  await setTimeout(SAMPLE_MS)
  delay.disable()
  // The histogram holds the time between two ticks, of which this much is the wait that was asked for.
  const late = (nanoseconds: number) => rounded(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS))
  const seen = delay.count > 0
  // Not of every version that we run on.
  const { loopCount, events, eventsWaiting } =
    (performance.nodeTiming as { uvMetricsInfo?: UvMetrics }).uvMetricsInfo ?? {}
  return {
    sample_ms: SAMPLE_MS,
    utilisation: rounded(performance.eventLoopUtilization(before).utilization),
    utilisation_since_start: rounded(performance.eventLoopUtilization().utilization),
    delay_mean_ms: seen ? late(delay.mean) : null,
    delay_p50_ms: seen ? late(delay.percentile(50)) : null,
    delay_p99_ms: seen ? late(delay.percentile(99)) : null,
    delay_max_ms: seen ? late(delay.max) : null,
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
    user_ms: rounded(user / 1000),
    system_ms: rounded(system / 1000),
    load_average: loadavg().map(rounded),
    parallelism: availableParallelism(),
    max_rss_bytes: usage.maxRSS * 1024,
    file_reads: usage.fsRead,
    file_writes: usage.fsWrite,
    involuntary_context_switches: usage.involuntaryContextSwitches,
  }
}

/** What keeps the event loop busy or alive, by kind. */
export function activeResourcesSection(): Record<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}

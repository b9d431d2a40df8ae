import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { withFaultboard } from '../../adapters/node.js'
import type { TrackerInstance } from '../../tracker.js'
import { readConfiguration } from '../configuration.js'
import { listen } from '../host/listen.js'
import { openTracker } from '../open-tracker.js'
import { hostEnvironment, hostSettings, type IsolatedSettings } from './host-settings.js'

/** Settings of a host. Without `tracker` it throws and logs the same errors, which is the baseline. */
export interface HostInput {
  config: string | undefined
  tracker: IsolatedSettings | null
}

export interface Storm {
  count: number
  perSecond: number
  isUnique: boolean
}

export interface Resources {
  memory_mb: number
  /** Null where /proc is missing. */
  descriptors: number | null
}

export interface Settled {
  thrown: number
  dropped: Record<string, number>
}

/** Calls that the parent process makes through IPC. */
export interface HostMethods {
  start(input: HostInput): Promise<{ origin: string; mount_path: string }>
  /** Throws errors in the background. Errors of requests count toward the total. */
  throwErrors(storm: Storm): Promise<void>
  /** Longest event-loop stall in milliseconds since the previous call. */
  longestStall(): Promise<number>
  resources(): Promise<Resources>
  /** Waits until every accepted error is in the database or counted as dropped. */
  settle(): Promise<Settled>
}

/** Depth of the stack of each error, as in a small web application. */
const STACK_DEPTH = 10
const TICK_MS = 2
/** Limits the errors of one tick, so that the generator itself does not stall the host after a pause. */
const MAX_ERRORS_PER_TICK = 15
const STALL_RESOLUTION_MS = 2
const SETTLE_TIMEOUT_MS = 30_000
/** Size of a dashboard page, for viewers of the baseline. */
const STATIC_PAGE = 'x'.repeat(60_000)

let tracker: TrackerInstance | null = null
let server: Server
let thrown = 0
let isUnique = false
const stalls = monitorEventLoopDelay({ resolution: STALL_RESOLUTION_MS })

const methods: HostMethods = {
  async start(input) {
    if (input.tracker) {
      const { settings } = await readConfiguration({
        ...{ config: input.config, database: undefined, 'application-name': undefined },
      })
      const environment = { env: hostEnvironment(process.env), write: () => {} }
      tracker = await openTracker(hostSettings(settings, input.tracker), environment)
    }
    server = createServer(tracker ? withErrorLog(withFaultboard(route, tracker)) : withErrorLog(route))
    // A connection that the host closes while the load reuses it would look like a failed request.
    server.keepAliveTimeout = 0
    const origin = await listen(server, { port: 0, host: '127.0.0.1' })
    stalls.enable()
    return { origin, mount_path: tracker?.config.mount_path ?? '' }
  },

  async throwErrors(storm) {
    isUnique = storm.isUnique
    const [started, thrownBefore] = [performance.now(), thrown]
    while (thrown - thrownBefore < storm.count) {
      const due = ((performance.now() - started) / 1000) * storm.perSecond - (thrown - thrownBefore)
      const left = storm.count - (thrown - thrownBefore)
      for (let i = Math.min(due, left, MAX_ERRORS_PER_TICK); i >= 1; i--) failInBackground()
      await sleep(TICK_MS)
    }
  },

  async longestStall() {
    const longest = Math.max(0, stalls.max / 1e6 - STALL_RESOLUTION_MS)
    stalls.reset()
    return longest
  },

  async resources() {
    await waitForClosedConnections()
    globalThis.gc?.()
    await sleep(50)
    globalThis.gc?.()
    const descriptors = await readdir('/proc/self/fd').catch(() => null)
    return { memory_mb: process.memoryUsage.rss() / 1e6, descriptors: descriptors?.length ?? null }
  },

  async settle() {
    let [least, progressAt] = [Number.POSITIVE_INFINITY, performance.now()]
    while (tracker) {
      await tracker.flush()
      const { buffered, queued, spool, unavailable_since } = await tracker.stats()
      const pending = buffered + queued + spool.files
      if (pending === 0 && unavailable_since === null) break
      if (pending < least) [least, progressAt] = [pending, performance.now()]
      // The report then shows the difference as missing errors.
      if (performance.now() - progressAt > SETTLE_TIMEOUT_MS) break
      await sleep(20)
    }
    return { thrown, dropped: tracker ? (await tracker.stats()).dropped : {} }
  },
}

function route(...[request, response]: Parameters<RequestListener>): void {
  if (request.url === '/fail') fail(STACK_DEPTH)
  response.end(request.url === '/page' ? STATIC_PAGE : 'ok')
}

function withErrorLog(listener: (...args: Parameters<RequestListener>) => unknown): RequestListener {
  return async (request, response) => {
    try {
      await listener(request, response)
    } catch (error) {
      log(error)
      response.writeHead(500).end()
    }
  }
}

function failInBackground(): void {
  try {
    fail(STACK_DEPTH)
  } catch (error) {
    log(error)
    void tracker?.report(error, { handled: true })
  }
}

function fail(depth: number): void {
  if (depth > 0) fail(depth - 1)
  thrown++
  throw new Error(isUnique ? `Cannot charge customer ${randomWord()}` : 'Cannot charge the customer')
}

/** Letters only, because grouping ignores numbers and ids in messages. */
function randomWord(): string {
  return randomBytes(8)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))
}

/** Formats the stack, as a logger does, and prints nothing. */
function log(error: unknown): void {
  String((error as Error).stack)
}

/** Connections of the load count as descriptors of the host while they are open. */
async function waitForClosedConnections(): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const open = await new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
    if (open === 0) return
    server.closeIdleConnections()
    await sleep(20)
  }
}

process.on('message', async ({ id, method, input }: { id: number; method: keyof HostMethods; input: never }) => {
  try {
    process.send?.({ id, result: await methods[method](input) })
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) })
  }
})
// The parent has read every figure or was stopped, so nothing has to be written.
process.on('disconnect', () => process.exit())

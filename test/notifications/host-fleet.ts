import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { ErrorNotice } from '../../src/notifications/content/notice.js'
import type { Settings } from '../../src/options.js'
import { temporaryFolder } from '../support/tracker.js'

export interface FleetHost {
  recorded: number
  isDone: boolean
  errors: string[]
  kill(): void
  /** Stops the host cleanly and returns its exit code. */
  stop(): Promise<number | null>
}

/** Starts a host in its own process. Its clock starts at the given time. */
export function startFleetHost(
  settings: Settings,
  events: readonly LogErrorInput[],
  { starts_at }: { starts_at?: number } = {},
): FleetHost {
  const file = join(temporaryFolder(), 'orders.json')
  writeFileSync(file, JSON.stringify({ settings, events, at_a_time: 10, starts_at }))
  const program = fileURLToPath(new URL('./fixtures/fleet-host.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const host: FleetHost = {
    recorded: 0,
    isDone: false,
    errors: [],
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.stdin.end()
      const [code] = await ended
      return code as number | null
    },
  }
  const ended = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'done') host.isDone = true
    else host.recorded = Number(line.split(' ')[1])
  })
  createInterface({ input: child.stderr }).on('line', (line) => host.errors.push(line))
  return host
}

export interface Arrival {
  key: string
  notice: ErrorNotice
}

/** A slow webhook, so that a killed process is killed while sending. */
export async function slowWebhook(): Promise<{ url: string; arrivals: Arrival[] }> {
  const arrivals: Arrival[] = []
  const server = createServer(async (request, response) => {
    const notice = JSON.parse(await text(request)) as ErrorNotice
    arrivals.push({ key: String(request.headers['idempotency-key']), notice })
    setTimeout(() => response.end('ok'), 30)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrivals }
}

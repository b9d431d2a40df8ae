import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SystemHealth } from '../../../src/model/system-health.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { eventually } from '../../support/tracker.js'
import { type MeasuredHost, startMeasuredHost } from './host.js'

interface Health {
  processes: { id: number; pid: number; alive: boolean; node_version: string; rss_bytes: number }[]
  points: { rss_bytes: number | null; errors: number | null; delay_max_ms: number | null; heap_limit_bytes: number }[]
}

describeEachRuntime('the health of a running host', ({ path, name }) => {
  let folder: string
  let host: MeasuredHost

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-health-'))
    const database = `sqlite:${join(folder, 'test.sqlite3')}`
    const settings = { database, enable_system_health: true, enable_process_health: true }
    const env = { FAIL_AT_START: 'yes' }
    host = await startMeasuredHost(path, settings, { flags: ['--max-old-space-size=200'], env })
  })

  afterAll(async () => {
    const { code, errors } = await host.stop()
    await rm(folder, { recursive: true, force: true })
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
  })

  /** Retries, because monitoring is loaded asynchronously and errors within a second share a measurement. */
  async function failAfterBlocking(): Promise<{ id: unknown; health: SystemHealth }> {
    let id: unknown
    let health: SystemHealth | undefined
    await eventually(async () => {
      await host.fetchJson('/block')
      id = (await host.fetchJson('/fail'))?.id
      const { error } = await host.json<{ error: { details: { system_health?: SystemHealth } } }>(`/errors/${id}.json`)
      health = error.details.system_health
      return (health?.delay_max_ms ?? 0) > 150
    }, 'an error shows the blocked event loop')
    return { id, health: health as SystemHealth }
  }

  test('process health is recorded with each error and shows a blocked event loop', async () => {
    const { id, health } = await failAfterBlocking()
    expect(health.rss_bytes).toBeGreaterThan(20_000_000)
    expect(health.heap_used_bytes).toBeGreaterThan(4_000_000)
    // The limit of the flag, without the young generation that Node.js adds.
    expect(Math.round(health.heap_limit_bytes / 1024 / 1024)).toBe(200)
    expect(health.utilization).toBeGreaterThan(0)
    expect(health.utilization).toBeLessThanOrEqual(1)
    expect(health.active_resources).toBeGreaterThan(0)
    const page = await (await host.get(`/errors/${id}`)).text()
    expect(page).toContain('id="process-title">Process<')
    if (health.uptime_s < 60) expect(page).toContain('The process had been running for less than one minute.')
  })

  test('process health is written soon after the start and includes earlier errors', async () => {
    const health = () => host.json<Health>('/process_health.json?range=1h')
    await eventually(async () => (await health()).processes.length > 0, 'the process is listed')
    const { processes, points } = await health()
    expect(processes).toMatchObject([{ pid: host.pid, alive: true, node_version: expect.stringContaining('v') }])
    expect(`Node.js ${processes[0]?.node_version.slice(1).split('.')[0]}`).toBe(name)
    const known = points.filter(({ rss_bytes }) => rss_bytes !== null)
    // One error at the start of the host, and possibly those of the other test.
    expect(known[0]?.errors).toBeGreaterThanOrEqual(1)
    expect(known[0]?.delay_max_ms).toBeGreaterThanOrEqual(0)
    const page = await (await host.get('/process_health?range=1h')).text()
    expect(page).toContain(`process ${host.pid}`)
  })
})

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../src/model/time.js'
import { EVIL } from '../diagnostics/samples.js'
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  expectNoOverflowAtEveryWidth,
} from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { withDatabase } from '../support/tracker.js'

const ON = {
  enable_diagnostic_dump: true,
  enable_heap_snapshots: true,
  enable_system_health: true,
  enable_process_health: true,
  detect_swallowed_exceptions: true,
  enable_request_guard_tracking: true,
  enable_breadcrumbs: true,
}
/** Processes with a week of data per minute: an ordinary process, a process with a very long name, and many more. */
async function addProcesses(url: string): Promise<void> {
  const now = Date.now() - (Date.now() % MINUTE)
  await withDatabase(url, async ({ read }) => {
    const hostnames = ['web-1', `${EVIL}${'w'.repeat(150)}`, ...Array.from({ length: 60 }, (_, i) => `worker-${i}`)]
    for (const [i, hostname] of hostnames.entries()) {
      const started_at = now - 8 * 24 * 60 * MINUTE
      const process = { process_key: String(i), application_id: 1, hostname: hostname.slice(0, 255), pid: 40_000 + i }
      const versions = { environment: 'test', node_version: 'v24.1.0', app_version: '4.2.0' }
      await read
        .insertInto('faultboard_processes')
        .values({ ...process, ...versions, started_at, last_minute: now - (i % 2) * 60 * MINUTE })
        .execute()
    }
    const { id: process_id } = await read
      .selectFrom('faultboard_processes')
      .select('id')
      .where('hostname', '=', 'web-1')
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 7 * 24 * 12 }, (_, i) => ({
      ...{ process_id, minute: now - i * 5 * MINUTE, rss_bytes: 9e9 - i * 1e6, heap_used_bytes: 8e9 - i * 1e6 },
      ...{ heap_limit_bytes: 9e9, handles: 40, errors: i % 50 === 0 ? 100_000 : 0, delay_p50_ms: 1, delay_p99_ms: 340 },
      ...{ delay_max_ms: 45_000, utilization: 0.97, cpu: 1.8, gc_ms: 9000 },
    }))
    for (let i = 0; i < rows.length; i += 400) {
      await read
        .insertInto('faultboard_process_minutes')
        .values(rows.slice(i, i + 400))
        .execute()
    }
  })
}

describeInBrowser('dumps and processes over time', ({ open }) => {
  let folder: string
  let host: Host
  let empty: Host

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-processes-'))
    const url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, ON)
    empty = await startHost(`sqlite:${join(folder, 'empty.sqlite3')}`, { ...ON, enable_process_health: true })
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b', app_version: '4.2.0' })
    const pools = Array.from({ length: 12 }, (_, i) => ({ size: 10 ** i, borrowed: i }))
    for (const [i, pool] of pools.entries()) host.tracker.registerPool(`${EVIL} ${'tenant '.repeat(8)}${i}`, pool)
    await host.post('/errors/diagnostic_dumps', { note: 'before' })
    host.tracker.addBreadcrumb({ category: 'unbroken'.repeat(20), message: EVIL })
    await host.post('/errors/diagnostic_dumps', {
      note: `${EVIL} ${'N'.repeat(800)}`,
      report: 'true',
      cpu_profile_ms: '50',
    })
    await addProcesses(url)
  })

  afterAll(async () => {
    await host?.close()
    await empty?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const at = (target: Host, path: string) => `${target.origin}/error_dashboard${path}`
  const PAGES = [
    '/process_health?range=7d&process_id=1',
    '/errors/diagnostic_dumps',
    '/errors/diagnostic_dumps/2',
    '/errors/1',
  ]

  test.each(PAGES)('renders %s with enormous data without overflow', async (path) => {
    const page = await open({ colorScheme: 'dark' })
    await page.goto(at(host, path))
    expect(await page.locator('h1').count()).toBe(1)
    await expectNoOverflowAtEveryWidth(page)
    for (const dump of await page.locator('.record-main').all()) {
      expect((await dump.boundingBox())?.width).toBeGreaterThan(200)
    }
    // every-page.test.ts covers light mode, and pages without charts and reports.
    if (/range|\/2$/.test(path)) await expectAccessible(page)
  })

  test('shows an empty state with the next step', async () => {
    const page = await open({ viewport: { width: 390, height: 900 } })
    // The responding host has reported by now.
    await withDatabase(empty.tracker.config.database, ({ read }) => read.deleteFrom('faultboard_processes').execute())
    for (const path of ['/process_health', '/errors/diagnostic_dumps']) {
      await page.goto(at(empty, path))
      expect(await page.locator('.empty').isVisible()).toBe(true)
      await expectNoOverflow(page)
    }
    await expectAccessible(page)
  })

  test.each([390, 768])('has no horizontal scroll at %i pixels', async (width) => {
    const page = await open({ viewport: { width, height: 900 } })
    for (const path of ['/process_health', '/errors/diagnostic_dumps/2']) {
      await page.goto(at(host, path))
      expect((await page.locator('.section-tabs').boundingBox())?.height).toBeLessThan(48)
      const tables = await page.locator('.scroll:not(details .scroll):has(table)').all()
      expect(tables.length, path).toBeGreaterThan(0)
      for (const table of tables) {
        const cut = await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
        expect([path, await table.getAttribute('aria-label'), cut]).toEqual([path, expect.any(String), 0])
      }
    }
  })

  test('shows soft and hard limits with formatted sizes in the report of a dump', async () => {
    const page = await open()
    await page.goto(at(host, '/errors/diagnostic_dumps/2'))
    const limits = page.getByRole('table', { name: 'Limits' })
    expect(await limits.getByRole('columnheader').allTextContents()).toEqual(['Limit', 'Soft', 'Hard'])
    expect(await limits.getByRole('row', { name: /^Stack size/ }).textContent()).toMatch(/[KMG]B|no limit/)
    expect(await page.locator('.report').textContent()).not.toMatch(/18,446,744|\{"/)
  })

  test('selects a process and a range by links and shows a data table for every chart', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(host, '/process_health'))
    await page.getByRole('link', { name: /web-1 · 40000/ }).click()
    await page.getByRole('link', { name: '7 d', exact: true }).click()
    await page.waitForURL(/process_id=\d+&range=7d/)
    expect(await page.getByText('web-1, process 40000').isVisible()).toBe(true)
    const charts = page.locator('.process-charts figure')
    expect(await charts.count()).toBe(5)
    await charts.first().getByText('Show as table').click()
    expect(await charts.first().locator('tbody tr').count()).toBe(84)
    expect(await page.getByText('The heap was nearly full').count()).toBeGreaterThan(0)
  })

  test('shows the values of a line chart and its releases by keyboard', async () => {
    const page = await open()
    await page.goto(at(host, '/process_health?range=24h'))
    const memory = page.locator('.process-charts figure').first()
    const tooltip = memory.locator('.chart-tooltip')
    await memory.locator('[data-bar][tabindex="0"]').focus()
    expect(await tooltip.innerText()).toMatch(
      /, in progress\nProcess \(RSS\): [\d.]+ [MG]B\nHeap used: [\d.]+ [MG]B(\nErrors: \d+)?$/,
    )
    await page.keyboard.press('ArrowLeft')
    expect(await tooltip.innerText()).toMatch(/ \d\d:\d\d–\d\d:\d\d UTC\nProcess/)
    await memory.getByRole('link', { name: /^Release 4\.2\.0, first seen / }).focus()
    expect(await tooltip.innerText()).toContain('Release 4.2.0')
    expect(await memory.locator('.legend').innerText()).toMatch(/Errors$/)
    const [mark, plot] = [
      await memory.locator('[data-chart] .mark').first().boundingBox(),
      await memory.locator('[data-chart]').boundingBox(),
    ]
    expect(mark?.height).toBeLessThan((plot?.height ?? 0) / 10)
    const marked = await memory
      .locator('[data-bar]')
      .evaluateAll((bars) => bars.map(({ ariaLabel }) => ariaLabel ?? ''))
    expect(marked.filter((text) => /Errors: [\d,]+$/.test(text))).toHaveLength(
      await memory.locator('[data-chart] .mark').count(),
    )
  })

  test('downloads a profile under its own name', async () => {
    const page = await open()
    await page.goto(at(host, '/errors/diagnostic_dumps/2'))
    const saving = page.waitForEvent('download')
    await page.getByRole('link', { name: /CPU profile/ }).click()
    expect((await saving).suggestedFilename()).toMatch(/^dump-\d+-[0-9a-f]{16}\.cpuprofile$/)
  })

  test('warns about the cost of a heap snapshot', async () => {
    const page = await open()
    await page.goto(at(host, '/errors/diagnostic_dumps'))
    await page.getByText('Capture dump').click()
    expect(await page.getByText('blocks the process and all its requests').isVisible()).toBe(true)
    expect(await page.getByLabel('Include a heap snapshot').isChecked()).toBe(false)
    await expectAccessible(page)
  })
})

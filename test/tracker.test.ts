import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import createFastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { capture, dashboard } from '../src/adapters/express.js'
import { faultboard } from '../src/adapters/fastify.js'
import type { Settings } from '../src/options.js'
import { TrackerInstance } from '../src/tracker.js'

describe('a tracker with enabled: false', () => {
  test('creates no file, adds no hook and opens no route', async () => {
    const project_root = temporaryFolder()
    const hooks = () => process.eventNames().map((name) => [name, process.listenerCount(name)])
    const before = hooks()
    const tracker = disabledTracker({ project_root, crash_capture_path: 'crashes', enable_process_health: true })
    tracker.start()
    await tracker.report(new Error('not recorded'))
    const app = express()
    app.use(dashboard(tracker))
    app.get('/', () => {
      throw new Error('not recorded')
    })
    app.use(capture(tracker))
    app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) =>
      response.status(500).send('host error'),
    )
    const get = await serve(app)
    expect(await get('/')).toEqual({ status: 500, text: 'host error' })
    expect((await get('/error_dashboard/errors')).status).toBe(404)
    expect(hooks()).toEqual(before)
    await tracker.flush()
    await tracker.shutdown()
    expect(readdirSync(project_root)).toEqual([])
  })

  test('returns empty results and calls no callback', async () => {
    const calls: string[] = []
    const tracker = disabledTracker({
      before_log_callback: () => Boolean(calls.push('before_log_callback')),
      user_callback: () => calls.push('user_callback'),
    })
    expect(await tracker.report(new Error('x'))).toBeNull()
    expect(await tracker.Commands.LogError.call({ exception: new Error('x') })).toBeNull()
    expect(tracker.withScope(() => 'ran')).toBe('ran')
    tracker.setTags({ a: 1 })
    tracker.addBreadcrumb({ category: 'x', message: 'y' })
    expect(await tracker.Queries.ErrorsList.call()).toEqual([])
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({ total_errors: 0, top_errors: [] })
    expect(calls).toEqual([])
  })

  test('leaves the path of the dashboard to the routes of a Fastify application', async () => {
    const tracker = disabledTracker()
    const app = createFastify()
    app.register(async (admin) => void admin.register(faultboard, { tracker }), { prefix: '/admin' })
    app.get('/admin/error_dashboard', () => 'host page')
    onTestFinished(() => app.close())
    expect((await app.inject('/admin/error_dashboard')).body).toBe('host page')
  })

  test('responds with 404 to requests that are passed to handle', async () => {
    const mount = { base: '', path: '/errors', remote_address: null }
    expect((await disabledTracker().handle(new Request('http://localhost/errors'), mount)).status).toBe(404)
  })
})

function disabledTracker(settings: Settings = {}): TrackerInstance {
  const tracker = new TrackerInstance(settings, { env: { FAULTBOARD_ENABLED: 'false' } })
  onTestFinished(() => tracker.shutdown())
  return tracker
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-off-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

async function serve(app: express.Express) {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  }
}

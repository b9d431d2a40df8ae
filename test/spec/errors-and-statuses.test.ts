import express from 'express'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../src/adapters/express.js'
import { sql } from '../../src/store/kysely.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, serveTracker, signIn } from '../support/host.js'
import { withDatabase } from '../support/tracker.js'
import { NOW } from './spec-host.js'

/** A host with its own reporting endpoint, as the specification suggests. */
function reportingHost(tracker: TrackerInstance) {
  return express()
    .use(dashboard(tracker))
    .post('/api/errors', express.json(), async (request, response) => {
      const { error } = request.body ?? {}
      if (typeof error?.error_type !== 'string') {
        response.status(422).json({ error: 'error_type is required' })
        return
      }
      const { stack, url, timestamp, ...fields } = error
      const recorded = await tracker.Commands.LogError.call({
        ...fields,
        backtrace: stack?.split('\n'),
        request_url: url,
        occurred_at: timestamp,
      })
      response.status(201).json({ success: recorded !== null })
    })
}

describeEachDatabase('errors and statuses', (database) => {
  let host: Host
  let id: number
  let now = NOW

  beforeAll(async () => {
    const url = await database.fresh()
    host = await serveTracker({ database: url }, { now: () => now }, reportingHost)
    id = (await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' }))?.id ?? 0
  })

  afterAll(() => host?.close())

  const report = (error: unknown) =>
    fetch(`${host.origin}/api/errors`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error }),
    })

  test('returns 200 on success', async () => {
    expect((await host.get('/errors')).status).toBe(200)
  })

  test('returns 201 from a host endpoint that calls LogError', async () => {
    const response = await report({
      error_type: 'ClientError',
      message: 'undefined is not an object',
      stack: 'render@app.js:1:20\ntap@app.js:2:7',
      platform: 'ios',
      app_version: '5.0',
      url: 'app://cart',
      timestamp: NOW - 1000,
    })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({ success: true })
    const [listed] = (await host.json('/errors?error_type=ClientError')).errors as unknown as { id: number }[]
    expect((await host.json(`/errors/${listed?.id}`)).error).toMatchObject({
      platform: 'iOS',
      app_version: '5.0',
      backtrace: ['render@app.js:1:20', 'tap@app.js:2:7'],
      request_url: 'app://cart',
      occurred_at: new Date(NOW - 1000).toISOString(),
    })
  })

  test('returns 422 with a string field error from a host endpoint', async () => {
    const response = await report({ message: 'no type' })
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({ error: expect.any(String) })
  })

  test('the dashboard has no built-in HTTP endpoint for error logging', async () => {
    expect((await host.post('/errors', { error_type: 'X', message: 'y' })).status).toBe(404)
  })

  test('returns 302 after a POST action to every client', async () => {
    for (const accept of ['text/html', 'application/json']) {
      expect((await host.post(`/errors/${id}/unassign`, {}, { accept })).status).toBe(302)
    }
  })

  test('returns 401 without valid credentials', async () => {
    const path = `${host.origin}/error_dashboard/errors`
    expect((await fetch(path)).status).toBe(401)
    expect((await fetch(path, { headers: signIn('admin', 'wrong') })).status).toBe(401)
  })

  test.each(['/errors/999999', '/no/such/page', '/errors/1/explode', '/assets/none.css'])(
    'returns 404 for %s',
    async (path) => {
      expect(await host.json(path)).toEqual({ status: 404, error: expect.any(String) })
      const page = await host.get(path)
      expect(page.status).toBe(404)
      expect(page.headers.get('content-type')).toContain('text/html')
    },
  )

  test('returns 404 where the dashboard is not mounted', async () => {
    expect((await fetch(`${host.origin}/another_path/errors`, { headers: signIn() })).status).toBe(404)
  })

  test('returns 404 for a disabled page and names its option', async () => {
    expect(await host.json('/errors/diagnostic_dumps')).toEqual({
      status: 404,
      error: expect.stringContaining('enable_diagnostic_dump'),
    })
  })

  test('returns 422 with the parameter name in HTML and JSON', async () => {
    expect(await host.json('/errors?severity=urgent')).toEqual({
      status: 422,
      error: expect.stringContaining('severity'),
    })
    const page = await host.get('/errors?severity=urgent')
    expect(page.status).toBe(422)
    expect(await page.text()).toContain('severity must be one of')
    expect((await host.post(`/errors/${id}/assign`)).status).toBe(422)
  })

  test('returns 403 for a cross-site POST and changes nothing', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const form = { assigned_to: 'mallory' }
      expect((await host.post(`/errors/${id}/assign`, form, headers as Record<string, string>)).status).toBe(403)
    }
    expect((await host.json(`/errors/${id}`)).error).toMatchObject({ assigned_to: null })
  })

  describe('internal errors', () => {
    test('returns 500 without internals in the body', async () => {
      now = Number.NaN
      const responses = [await host.get('/overview'), await host.get('/overview', { accept: 'application/json' })]
      now = NOW
      for (const response of responses) {
        expect(response.status).toBe(500)
        expect(await response.text()).not.toMatch(/at .*\.ts|RangeError|node_modules|select /)
      }
    })

    test('returns 500 without internals for a query that fails on a missing table', async () => {
      const url = await database.fresh()
      const broken = await serveTracker({ database: url })
      onTestFinished(() => broken.close())
      const recorded = await broken.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
      await withDatabase(url, ({ read }) =>
        sql`alter table faultboard_comments rename to faultboard_comments_away`.execute(read),
      )
      const response = await broken.get(`/errors/${recorded?.id}.json`)
      expect([response.status, response.headers.get('retry-after')]).toEqual([500, null])
      expect(await response.text()).not.toMatch(/faultboard_comments|select |\.ts|node_modules/)
      await withDatabase(url, ({ read }) =>
        sql`alter table faultboard_comments_away rename to faultboard_comments`.execute(read),
      )
    })
  })
})

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTracker, type Tracker } from '../index.js'
import { type ContractCase, CREDENTIALS, withTemporaryDatabase } from './contract.js'

export type TestHost = RequestListener | { listener: RequestListener; close(): unknown }

export interface AdapterHarness {
  /**
   * Builds an application of the framework with the dashboard and capture of this tracker. It registers every route of
   * `testRoutes(tracker)` for GET, sends the returned text, and leaves thrown errors to the framework.
   */
  host(tracker: Tracker): TestHost | Promise<TestHost>
}

/** Routes of the test application by path. Each returns the response body or throws. */
export function testRoutes(tracker: Tracker): Record<string, () => string | Promise<string>> {
  return {
    '/ok': () => 'ok',
    '/sync': () => {
      throw new Error('thrown by a handler')
    },
    '/async': async () => {
      throw new Error('rejected by a handler')
    },
    '/reported': () => {
      const error = new Error('reported and thrown')
      void tracker.report(error)
      throw error
    },
  }
}

/** Requirements for a framework adapter, tested with real HTTP requests and a temporary SQLite database. */
export function adapterContract(harness: AdapterHarness): ContractCase[] {
  const define = (title: string, body: (host: RunningHost) => Promise<void>): ContractCase => ({
    title,
    run: () => withHost(harness, body),
  })
  return [
    define('requires credentials for the dashboard', async ({ fetch }) => {
      const response = await fetch('/error_dashboard', { headers: {} })
      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Basic /)
    }),
    define('serves the dashboard as HTML and JSON', async ({ fetch }) => {
      const html = await fetch('/error_dashboard/errors')
      assert.equal(html.status, 200)
      assert.match(await html.text(), /<html/)
      const json = await fetch('/error_dashboard/errors.json')
      assert.equal(json.status, 200)
      assert.deepEqual(((await json.json()) as { errors: unknown }).errors, [])
    }),
    define('leaves other routes to the application', async ({ fetch }) => {
      const response = await fetch('/ok')
      assert.equal(response.status, 200)
      assert.equal(await response.text(), 'ok')
    }),
    ...(['/sync', '/async', '/reported'] as const).map((path) =>
      define(`records the error of ${path} once and lets the application respond`, async ({ fetch, tracker }) => {
        assert.ok((await fetch(path)).status >= 500)
        await tracker.flush()
        const errors = await tracker.Queries.ErrorsList.call()
        assert.equal(errors.length, 1)
        assert.equal(errors[0]?.occurrence_count, 1)
        // Without a scope, an error that the handler reports itself has no request.
        if (path === '/reported') return
        const { request_url } = await tracker.Queries.FindError.call({ error_id: errors[0].id })
        assert.ok(request_url?.endsWith(path), `request_url is ${request_url}`)
      }),
    ),
    define('passes form bodies to the dashboard', async ({ fetch, tracker }) => {
      await fetch('/sync')
      await tracker.flush()
      const [error] = await tracker.Queries.ErrorsList.call()
      assert.ok(error)
      const body = new URLSearchParams({ resolution_comment: 'fixed' })
      const response = await fetch(`/error_dashboard/errors/${error.id}/resolve`, { method: 'POST', body })
      assert.equal(response.status, 302)
      const { resolved } = await tracker.Queries.FindError.call({ error_id: error.id })
      assert.equal(resolved, true)
    }),
  ]
}

interface RunningHost {
  tracker: Tracker
  /** Sends a request with the dashboard credentials. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

async function withHost({ host }: AdapterHarness, body: (host: RunningHost) => Promise<void>): Promise<void> {
  await withTemporaryDatabase(async (database) => {
    const tracker = createTracker({ ...CREDENTIALS, database, max_event_loop_lag_ms: null })
    const built = await host(tracker)
    const { listener, close } = typeof built === 'function' ? { listener: built, close() {} } : built
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { dashboard_username, dashboard_password } = CREDENTIALS
    const authorization = `Basic ${Buffer.from(`${dashboard_username}:${dashboard_password}`).toString('base64')}`
    try {
      const send: RunningHost['fetch'] = (path, init = {}) =>
        fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', headers: { authorization }, ...init })
      await body({ tracker, fetch: send })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await close()
      await tracker.shutdown()
    }
  })
}

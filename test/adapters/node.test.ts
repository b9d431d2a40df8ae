import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { compress, describeAdapter, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'
import { insteadOfVitest } from '../contract/visit.js'
import { listening, PASSWORD, USER } from '../support/host.js'

const NO_HANDLER = 'node:http has no error handling but that of the process'

/** A bare listener has no error handling: the host here answers in the process-wide handlers, as such hosts do. */
const waiting: ServerResponse[] = []

function onProcessError(error: unknown): void {
  const response = waiting.shift()
  if (!response || response.headersSent) return
  response.statusCode = 503
  response.end(`host says: ${error instanceof Error ? error.message : error}`)
}

describeAdapter({
  name: 'node:http',
  host: (tracker, variant) => (tracker ? withFaultboard(host(variant), tracker) : host(variant)) as () => void,
  onProcessError,
  route: null,
  params: false,
  user_id: null,
  unseen: { '/stream': 'the stream fails when the listener has long returned' },
  lacks: {
    default_handler: NO_HANDLER,
    failing_handler: NO_HANDLER,
    parser: 'it has none',
    prefix: 'it has no routers',
  },
})

function host(variant: Variant) {
  return (request: IncomingMessage, response: ServerResponse): unknown => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    if (variant === 'headers') response.setHeaders(new Map(Object.entries(HOST_HEADERS)))
    if (variant === 'wrapped') compress(response)
    const run = pathname === '/orders/8' ? ROUTES['/orders/:id'] : ROUTES[pathname]
    if (pathname === '/stream') return failingStream().pipe(response)
    if (pathname === '/passed') return fail(response, () => Promise.reject(new Error('broken')))
    if (pathname === '/middleware') return fail(response, ROUTES['/sync'])
    if (run && !['/ok', '/timer', '/floating'].includes(pathname)) return fail(response, run)
    if (run) return Promise.resolve(run()).then((text) => response.end(text))
    response.statusCode = 404
    return response.end('nothing here')
  }
}

function fail(response: ServerResponse, run?: () => unknown): unknown {
  waiting.push(response)
  return run?.()
}

test('what the listener throws or rejects reaches the process exactly as without Faultboard', async () => {
  const seen: string[] = []
  const tracker = new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD },
    { env: {}, write: () => {} },
  )
  const server = createServer(withFaultboard(host('own_handler'), tracker) as () => void)
  const origin = await listening(server)
  await insteadOfVitest(
    (error, event) => {
      seen.push(`${event}: ${(error as Error).message}`)
      onProcessError(error)
    },
    async () => {
      await fetch(`${origin}/sync`)
      await fetch(`${origin}/async`)
    },
  )
  expect(seen).toEqual(['uncaughtException: broken', 'unhandledRejection: broken'])
  await tracker.flush()
  const recorded = await tracker.Queries.ErrorsList.call()
  expect(recorded).toMatchObject([
    { severity: 'high', occurrence_count: 1 },
    { severity: 'high', occurrence_count: 1 },
  ])
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})

test.each(['/string', '/null'])(
  'what is no error is recorded once, though the process meets it too: %s',
  async (path) => {
    const tracker = new TrackerInstance(
      { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD, request_scope: 'never' },
      { env: {}, write: () => {} },
    )
    const server = createServer(withFaultboard(host('own_handler'), tracker) as () => void)
    const origin = await listening(server)
    const visits = Array.from({ length: 5 }, () => path)
    await insteadOfVitest(onProcessError, () => Promise.all(visits.map((one) => fetch(`${origin}${one}`))))
    await tracker.flush()
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ occurrence_count: 5 }])
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  },
)

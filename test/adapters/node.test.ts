import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { compress, describeAdapter, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'
import { withProcessHandler } from '../contract/visit.js'
import { PASSWORD, startListening, USER } from '../support/host.js'

const NO_HANDLER = 'node:http has only the error handling of the process'

/** Responses of failed listeners. The process-wide handler completes them, because node:http has no error handling. */
const pendingResponses: ServerResponse[] = []

function onProcessError(error: unknown): void {
  const response = pendingResponses.shift()
  if (!response || response.headersSent) return
  response.statusCode = 503
  response.end(`host error: ${error instanceof Error ? error.message : error}`)
}

describeAdapter({
  name: 'node:http',
  createHost: (tracker, variant) =>
    (tracker ? withFaultboard(createListener(variant), tracker) : createListener(variant)) as () => void,
  onProcessError,
  route: null,
  params: false,
  user_id: null,
  undetectedFaults: { '/stream': 'the stream fails after the listener has returned' },
  unsupportedVariants: {
    default_handler: NO_HANDLER,
    failing_handler: NO_HANDLER,
    parser: 'node:http has no body parser',
    prefix: 'node:http has no routers',
  },
})

function createListener(variant: Variant) {
  return (request: IncomingMessage, response: ServerResponse): unknown => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    if (variant === 'headers') response.setHeaders(new Map(Object.entries(HOST_HEADERS)))
    if (variant === 'wrapped') compress(response)
    const run = pathname === '/orders/8' ? ROUTES['/orders/:id'] : ROUTES[pathname]
    if (pathname === '/stream') return failingStream().pipe(response)
    if (pathname === '/passed') return failLater(response, () => Promise.reject(new Error('broken')))
    if (pathname === '/middleware') return failLater(response, ROUTES['/sync'])
    if (run && !['/ok', '/timer', '/floating'].includes(pathname)) return failLater(response, run)
    if (run) return Promise.resolve(run()).then((text) => response.end(text))
    response.statusCode = 404
    return response.end('not found')
  }
}

function failLater(response: ServerResponse, run?: () => unknown): unknown {
  pendingResponses.push(response)
  return run?.()
}

test('passes thrown and rejected errors of the listener to the process unchanged', async () => {
  const events: string[] = []
  const tracker = new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD },
    { env: {}, write: () => {} },
  )
  const server = createServer(withFaultboard(createListener('own_handler'), tracker) as () => void)
  const origin = await startListening(server)
  await withProcessHandler(
    (error, event) => {
      events.push(`${event}: ${(error as Error).message}`)
      onProcessError(error)
    },
    async () => {
      await fetch(`${origin}/sync`)
      await fetch(`${origin}/async`)
    },
  )
  expect(events).toEqual(['uncaughtException: broken', 'unhandledRejection: broken'])
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
  'records a thrown value that is not an Error once even if the process also reports it: %s',
  async (path) => {
    const tracker = new TrackerInstance(
      { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD, request_scope: 'never' },
      { env: {}, write: () => {} },
    )
    const server = createServer(withFaultboard(createListener('own_handler'), tracker) as () => void)
    const origin = await startListening(server)
    const paths = Array.from({ length: 5 }, () => path)
    await withProcessHandler(onProcessError, () => Promise.all(paths.map((url) => fetch(`${origin}${url}`))))
    await tracker.flush()
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ occurrence_count: 5 }])
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  },
)

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { type ReportingOptions, reportingEndpoint } from '../../src/reporting/endpoint.js'
import { TrackerInstance } from '../../src/tracker.js'
import { PASSWORD, startListening, USER } from '../support/host.js'

/** Host with pages that load the client in a script tag, and with the endpoint that receives its reports. */
export interface Shop {
  origin: string
  tracker: TrackerInstance
  /** Environment of CLI commands that use the same database. */
  env: Record<string, string>
  /** Requests to the endpoint in the order of their responses. */
  received: { content_type: string | undefined; authorization: string | undefined; status: number }[]
  /** Responses that replace the next responses of the endpoint. */
  responses: { status: number; headers?: Record<string, string>; body?: string }[]
  /** Additional files by path. */
  files: Record<string, { type: string; body: string }>
  /** Adds a page that starts the client with these options (JavaScript source) and returns its URL. */
  page(options?: string, body?: string): string
  find(message: string): ReturnType<TrackerInstance['Queries']['FindError']['call']>
  /** Number of occurrences whose message starts with this prefix. */
  count(prefix: string): Promise<number>
}

const ENTRY = fileURLToPath(new URL('../../src/browser/script.ts', import.meta.url))

/** Bundles the client for a script tag like the build of the package. */
export async function bundleClient(options: BuildOptions = {}): Promise<string> {
  const shared = {
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2018',
    write: false,
    tsconfigRaw: {},
  } as const
  const built = await build({ entryPoints: [ENTRY], ...shared, ...options })
  return built.outputFiles?.[0]?.text ?? ''
}

/** Starts one host for all tests of a file. */
export function openShop(reporting: Omit<ReportingOptions, 'tracker'> = {}): Shop {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-shop-'))
  let pages = 0
  const shop = { origin: '', received: [], responses: [], files: {} } as unknown as Shop
  const server = createServer((request, response) => respond(shop, endpoint, request, response))
  let endpoint = (_request: IncomingMessage, _response: ServerResponse): unknown => undefined

  beforeAll(async () => {
    const database = `sqlite:${join(folder, 'errors.sqlite3')}`
    shop.env = { FAULTBOARD_DATABASE: database, FAULTBOARD_APPLICATION_NAME: 'shop' }
    shop.tracker = new TrackerInstance(
      {
        database: shop.env.FAULTBOARD_DATABASE as string,
        application_name: 'shop',
        max_event_loop_lag_ms: null,
        client_max_requests_per_minute: { per_address: 6000 },
        dashboard_username: USER,
        dashboard_password: PASSWORD,
      },
      { env: {}, write: () => undefined },
    )
    endpoint = reportingEndpoint({ tracker: shop.tracker, ...reporting }).node
    shop.files['/faultboard.js'] = { type: 'text/javascript', body: await bundleClient() }
    // Creates the schema before the first request.
    await shop.tracker.Queries.ErrorsList.call()
    shop.origin = await startListening(server)
  })

  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await shop.tracker.shutdown()
    rmSync(folder, { recursive: true, force: true })
  })

  shop.page = (options = '{}', body = '') => {
    const path = `/page-${++pages}`
    shop.files[path] = {
      type: 'text/html',
      body: `<!doctype html><title>Shop</title>${body}<script src="/faultboard.js"></script><script>
        var client = Faultboard.start({ endpoint: '/client_errors', app_version: '1.4.0', ...${options} })</script>`,
    }
    return `${shop.origin}${path}`
  }
  shop.find = async (message) => {
    await shop.tracker.flush()
    const errors = await shop.tracker.Queries.ErrorsList.call({ per_page: 100 })
    const found = errors.filter((error) => error.message === message)
    if (found.length !== 1) throw new Error(`${found.length} of ${errors.map((error) => error.message).join(' | ')}`)
    return shop.tracker.Queries.FindError.call({ error_id: found[0]?.id as number })
  }
  shop.count = async (prefix) => {
    await shop.tracker.flush()
    const errors = await shop.tracker.Queries.ErrorsList.call({ per_page: 100 })
    return errors
      .filter(({ message }) => message.startsWith(prefix))
      .reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
  }
  return shop
}

type Endpoint = (request: IncomingMessage, response: ServerResponse) => unknown

function respond(shop: Shop, endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://shop').pathname
  if (path !== '/client_errors') {
    const file = shop.files[path]
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.body ?? 'nothing')
    return
  }
  const { authorization, 'content-type': content_type } = request.headers
  response.on('finish', () => shop.received.push({ content_type, authorization, status: response.statusCode }))
  const override = shop.responses.shift()
  if (!override) {
    endpoint(request, response)
    return
  }
  request.resume().on('end', () => response.writeHead(override.status, override.headers).end(override.body))
}

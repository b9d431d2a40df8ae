import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { type ReportingOptions, reportingEndpoint } from '../../src/reporting/endpoint.js'
import { TrackerInstance } from '../../src/tracker.js'
import { listening, PASSWORD, USER } from '../support/host.js'

/** A real host: pages with the client in a script tag, and the endpoint that it reports to. */
export interface Shop {
  origin: string
  tracker: TrackerInstance
  /** What the command line needs to find the same database. */
  env: Record<string, string>
  /** What came to the endpoint, in its order. */
  arrived: { content_type: string | undefined; authorization: string | undefined; status: number }[]
  /** How the endpoint answers next, in place of what it would say. */
  answers: { status: number; headers?: Record<string, string>; body?: string }[]
  /** More that is served, by path. */
  files: Record<string, { type: string; body: string }>
  /** The address of a page that starts the client with these options, a text of JavaScript. */
  page(options?: string, body?: string): string
  find(message: string): ReturnType<TrackerInstance['Queries']['FindError']['call']>
  /** How often errors were recorded whose message begins so. */
  count(beginning: string): Promise<number>
}

const ENTRY = fileURLToPath(new URL('../../src/browser/script.ts', import.meta.url))

/** As the package's own build makes it for a script tag. */
export async function bundled(options: BuildOptions = {}): Promise<string> {
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

/** One host for all tests of a file. */
export function openShop(reporting: Omit<ReportingOptions, 'tracker'> = {}): Shop {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-shop-'))
  let pages = 0
  const shop = { origin: '', arrived: [], answers: [], files: {} } as unknown as Shop
  const server = createServer((request, response) => answer(shop, endpoint, request, response))
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
    shop.files['/faultboard.js'] = { type: 'text/javascript', body: await bundled() }
    // The schema is there before anything else asks for it.
    await shop.tracker.Queries.ErrorsList.call()
    shop.origin = await listening(server)
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
  shop.count = async (beginning) => {
    await shop.tracker.flush()
    const errors = await shop.tracker.Queries.ErrorsList.call({ per_page: 100 })
    return errors
      .filter(({ message }) => message.startsWith(beginning))
      .reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
  }
  return shop
}

type Endpoint = (request: IncomingMessage, response: ServerResponse) => unknown

function answer(shop: Shop, endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://shop').pathname
  if (path !== '/client_errors') {
    const file = shop.files[path]
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.body ?? 'nothing')
    return
  }
  const { authorization, 'content-type': content_type } = request.headers
  response.on('finish', () => shop.arrived.push({ content_type, authorization, status: response.statusCode }))
  const forced = shop.answers.shift()
  if (!forced) {
    endpoint(request, response)
    return
  }
  request.resume().on('end', () => response.writeHead(forced.status, forced.headers).end(forced.body))
}

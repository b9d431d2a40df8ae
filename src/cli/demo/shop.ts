import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withFaultboard } from '../../adapters/node.js'
import { preloadDetection } from '../../diagnostics/swallowed/detection/preload.js'
import { reportingEndpoint } from '../../reporting/endpoint.js'
import type { TrackerInstance } from '../../tracker.js'
import { BANNER_PATH, hideBanner } from './banner.js'
import { buildBasketScript } from './basket-script.js'
import { openShopDatabase } from './shop-database.js'
import { BASKET_PATH, REPORTING_PATH, SHOP_VERSION } from './shop-paths.js'

/** Folder of the built package, relative to the chunk that contains this module. */
const DIST = new URL('../', import.meta.url)

/** Starts to detect swallowed exceptions in the shop. Must run before its modules are loaded. */
export function watchShop(folder: string): void {
  const env = { FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: 'true', FAULTBOARD_PROJECT_ROOT: folder }
  preloadDetection({ env, dist: DIST, warn: () => {} })
}

export interface Shop {
  listener: RequestListener
  close(): void
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Loads the shop from its folder and puts Faultboard around it. */
export async function openShop(folder: string, tracker: TrackerInstance): Promise<Shop> {
  const { createShop } = await loadModule(folder, 'src/server.js')
  const { errorPage } = await loadModule(folder, 'src/pages.js')
  const database = await openShopDatabase(tracker)
  const shop = { tracker, database, dashboard_path: tracker.config.mount_path }
  const handler = withRoutes(await extraRoutes(folder, tracker), createShop(shop))
  const listener = withFaultboard(handler, tracker)
  return {
    close: database.close,
    listener(request, response) {
      setSecurityHeaders(response)
      // Not awaited, because an `await` would add a frame to the stacks of the shop.
      Promise.resolve(listener(request, response)).catch((error: unknown) => {
        // The error is already recorded; the response is up to the shop.
        if (response.headersSent) response.destroy()
        else send(response, 500, 'text/html', errorPage(error, shop).text)
      })
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: The shop is plain JavaScript.
function loadModule(folder: string, path: string): Promise<any> {
  return import(pathToFileURL(join(folder, path)).href)
}

/** Static files, the endpoint for errors from browsers, and the link that hides the banner. */
async function extraRoutes(folder: string, tracker: TrackerInstance): Promise<Record<string, Handler>> {
  const { code, map } = buildBasketScript()
  await tracker.Commands.StoreSourceMap.call({ release: SHOP_VERSION, file_name: BASKET_PATH.slice(1), map, code })
  const style = readFileSync(join(folder, 'src/style.css'), 'utf8')
  const client = readFileSync(createRequire(DIST).resolve('./browser.js'), 'utf8')
  const reporting = reportingEndpoint({ tracker })
  return {
    '/style.css': (_request, response) => send(response, 200, 'text/css', style),
    '/faultboard.js': (_request, response) => send(response, 200, 'text/javascript', client),
    [BASKET_PATH]: (_request, response) => send(response, 200, 'text/javascript', code),
    [REPORTING_PATH]: reporting.node,
    [BANNER_PATH]: hideBanner,
  }
}

function withRoutes(routes: Readonly<Record<string, Handler>>, next: Handler): Handler {
  return (request, response) => {
    const path = (request.url ?? '/').split('?')[0] as string
    return (Object.hasOwn(routes, path) ? (routes[path] as Handler) : next)(request, response)
  }
}

function setSecurityHeaders(response: ServerResponse): void {
  const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'"
  response.setHeader('Content-Security-Policy', policy)
  response.setHeader('X-Content-Type-Options', 'nosniff')
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8` }).end(body)
}

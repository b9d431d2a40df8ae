import { loadSession } from './account/session.js'
import { notFoundPage } from './pages.js'
import { showAccount, signIn } from './routes/account.js'
import { showCart } from './routes/cart.js'
import { search, showImage, showProduct } from './routes/catalog.js'
import { confirmOrder, pay, redeemGiftCard, saveAddress } from './routes/checkout.js'
import { showHome } from './routes/home.js'
import { listOrders, showDelivery } from './routes/orders.js'

/** Every page of the shop. A segment that starts with a colon is a parameter. */
const ROUTES = [
  ['GET /', showHome],
  ['GET /account', showAccount],
  ['GET /cart', showCart],
  ['GET /delivery/:order', showDelivery],
  ['GET /images/:file', showImage],
  ['GET /orders', listOrders],
  ['GET /products/:sku', showProduct],
  ['GET /search', search],
  ['POST /checkout/address', saveAddress],
  ['POST /checkout/confirm', confirmOrder],
  ['POST /gift-cards', redeemGiftCard],
  ['POST /pay', pay],
  ['POST /sign-in', signIn],
]

/** Returns the function that handles the requests of the shop. `shop` has the database, the tracker and the settings. */
export function createShop(shop) {
  return async function handleRequest(request, response) {
    const { pathname, searchParams } = new URL(request.url, 'http://shop.larder.example')
    const { handler, params } = findRoute(`${request.method} ${pathname}`)
    Object.assign(request, { params, query: Object.fromEntries(searchParams), body: await readBody(request) })
    request.session = loadSession(request, shop)
    const { status = 200, page } = await handler(request, shop)
    response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' })
    response.end(page.text)
  }
}

function findRoute(requested) {
  for (const [pattern, handler] of ROUTES) {
    const match = new RegExp(`^${pattern.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(requested)
    if (match) return { handler, params: { ...match.groups } }
  }
  return { handler: notFoundPage, params: {} }
}

class PayloadTooLargeError extends Error {
  name = 'PayloadTooLargeError'
}

const MAX_BODY_LENGTH = 100_000

async function readBody(request) {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > MAX_BODY_LENGTH) throw new PayloadTooLargeError('request entity too large')
  }
  if (request.headers['content-type'] === 'application/json') return JSON.parse(text)
  return Object.fromEntries(new URLSearchParams(text))
}

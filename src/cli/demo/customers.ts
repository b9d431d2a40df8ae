import { request as sendRequest } from 'node:http'
import { buildBasketScript } from './basket-script.js'
import { ADDRESSES, FIRST_USER, USER_AGENTS } from './people.js'
import type { SeededRandom } from './seeded-random.js'
import { BASKET_PATH, REPORTING_PATH, SHOP_VERSION } from './shop-paths.js'

/** A request that customers of the shop send. */
export interface CustomerRequest {
  /** Key of the error that it causes, if any. */
  readonly kind: string | null
  readonly weight: number
  readonly method: 'GET' | 'POST'
  path(random: SeededRandom): string
  /** Form fields, or JSON for the reporting endpoint. */
  body?(random: SeededRandom): Record<string, unknown>
  /** Customers whose number is divisible by this number. */
  readonly everyNth?: number
  /** Cookie version of customers who signed in long ago. */
  readonly hasLegacyCookie?: true
  /** Repetitions without a pause, from one address. */
  readonly repeat?: number
}

const SHOP_HOST = 'shop.larder.example'
const CITIES = ['Lisbon', 'Leeds', 'Lyon', 'Linz', 'Lublin'] as const
const WORDS = ['olive oil', 'rye bread', 'jam', 'green tea', 'almonds', 'honey', 'pasta'] as const

export const CUSTOMER_REQUESTS: readonly CustomerRequest[] = [
  {
    kind: 'order-not-saved',
    weight: 6,
    method: 'POST',
    path: () => '/checkout/confirm',
    body: (random) => ({ order_id: orderId(random), delivery: 'pickup' }),
  },
  {
    kind: 'cart-price',
    weight: 4,
    method: 'GET',
    path: (random) => `/cart?coupon=SPRING${random.integer(1, 40)}`,
    everyNth: 5,
  },
  {
    kind: 'payment-declined',
    weight: 5,
    method: 'POST',
    path: () => '/pay',
    body: (random) => payment(random, '4242 4242 4242 4242'),
  },
  {
    kind: 'payment-timeout',
    weight: 2,
    method: 'POST',
    path: () => '/pay',
    body: (random) => payment(random, '4000 0000 0000 9999'),
  },
  {
    kind: 'checkout-failed',
    weight: 1,
    method: 'POST',
    path: () => '/checkout/confirm',
    body: (random) => ({ order_id: orderId(random), delivery: 'evening', payment_state: 'unknown' }),
  },
  {
    kind: 'checkout-address',
    weight: 5,
    method: 'POST',
    path: () => '/checkout/address',
    body: (random) => ({ email: email(random), city: random.pick(CITIES), postal_code: random.integer(2, 900) }),
  },
  {
    kind: 'sign-in',
    weight: 3,
    method: 'POST',
    path: () => '/sign-in',
    body: (random) => ({ email: lockedAccount(random), password: `summer-${random.integer(1000, 9999)}` }),
  },
  {
    kind: 'search-down',
    weight: 1,
    method: 'GET',
    path: (random) => `/search?q=${encodeURIComponent(random.pick(WORDS))}`,
  },
  {
    kind: 'product-missing',
    weight: 8,
    method: 'GET',
    path: (random) => `/products/TEA-${random.integer(2000, 9999)}`,
  },
  {
    kind: 'image-resize',
    weight: 1,
    method: 'GET',
    path: (random) => `/images/OIL-${random.integer(1000, 9999)}.webp?w=${random.integer(100, 900)}&h=0`,
  },
  { kind: 'feed-aborted', weight: 3, method: 'GET', path: () => '/' },
  {
    kind: 'locale-import',
    weight: 5,
    method: 'GET',
    path: (random) => `/delivery/${orderId(random)}`,
  },
  {
    kind: 'basket-offer',
    weight: 3,
    method: 'POST',
    path: () => REPORTING_PATH,
    body: () => ({ error: browserError() }),
  },
  // Requests that cause no error, but appear on a page of a diagnostic.
  { kind: null, weight: 4, method: 'GET', path: () => '/orders' },
  { kind: null, weight: 3, method: 'GET', path: () => '/account' },
  { kind: null, weight: 1, method: 'GET', path: () => '/account', hasLegacyCookie: true },
  {
    kind: null,
    weight: 3,
    method: 'POST',
    path: () => '/checkout/confirm',
    body: (random) => ({ order_id: orderId(random), delivery: 'morning' }),
  },
  {
    kind: null,
    weight: 1,
    method: 'POST',
    path: () => '/sign-in',
    body: (random) => ({ email: email(random), password: 'guess' }),
    repeat: 9,
  },
]

/** Sends the request as a random customer, and waits for the response. */
export async function sendAsCustomer(shop: URL, visit: CustomerRequest, random: SeededRandom): Promise<void> {
  const user = customer(random, visit.everyNth ?? 1)
  const headers: Record<string, string> = {
    host: SHOP_HOST,
    'user-agent': random.pick(USER_AGENTS.Web),
    'x-forwarded-for': `${random.pick(ADDRESSES)}${random.integer(1, 254)}`,
    cookie: `session=${visit.hasLegacyCookie ? 'v1.' : ''}${user}`,
  }
  for (let sent = 0; sent < (visit.repeat ?? 1); sent++) {
    await send(shop, { method: visit.method, path: visit.path(random), headers }, visit.body?.(random))
  }
}

function send(
  shop: URL,
  { method, path, headers }: { method: string; path: string; headers: Record<string, string> },
  body: Record<string, unknown> | undefined,
): Promise<void> {
  const isReport = path === REPORTING_PATH
  const text = body && (isReport ? JSON.stringify(body) : String(new URLSearchParams(body as Record<string, string>)))
  const type = isReport ? 'application/json' : 'application/x-www-form-urlencoded'
  return new Promise((resolve) => {
    const { hostname, port } = shop
    const options = {
      host: hostname,
      port,
      method,
      path,
      headers: text ? { ...headers, 'content-type': type } : headers,
    }
    const request = sendRequest(options, (response) => response.resume().once('close', resolve))
    // The shop is shutting down.
    request.once('error', () => resolve())
    request.end(text)
  })
}

/** Report of the browser client after a click on "Update the basket". */
function browserError(): object {
  const { code } = buildBasketScript()
  const script = `https://${SHOP_HOST}${BASKET_PATH}`
  const frame = (name: string, expression: string) =>
    `    at ${name} (${script}:1:${code.indexOf(expression) + expression.lastIndexOf('.') + 2})`
  return {
    error_type: 'TypeError',
    message: "Cannot read properties of undefined (reading 'discount')",
    platform: 'Web',
    app_version: SHOP_VERSION,
    url: `https://${SHOP_HOST}/`,
    stack: [frame('showBasket', 'basket.offer.discount'), frame('HTMLButtonElement.updateBasket', 'showBasket({')].join(
      '\n',
    ),
    breadcrumbs: [
      { category: 'navigation', message: 'https://shop.larder.example/' },
      { category: 'ui', message: 'click button#basket' },
      { category: 'basket', message: 'Added rye bread' },
    ],
    tags: { source: 'error' },
  }
}

function customer(random: SeededRandom, everyNth: number): string {
  return `usr_${Math.ceil(FIRST_USER / everyNth) * everyNth + random.integer(0, 60) * everyNth}`
}

function orderId(random: SeededRandom): string {
  return String(random.integer(100_000, 999_999))
}

function email(random: SeededRandom): string {
  return `${random.pick(['mira', 'tom', 'lena', 'yusuf', 'kofi', 'ines'])}.${random.integer(1, 99)}@example.com`
}

/** The first account is locked, and every third one after it; see shop-database.ts. */
function lockedAccount(random: SeededRandom): string {
  return `usr_${FIRST_USER + random.integer(0, 50) * 3}@example.com`
}

function payment(random: SeededRandom, card_number: string): Record<string, unknown> {
  return { order_id: orderId(random), amount: `${random.integer(4, 240)}.50`, card_number, cvc: '123' }
}

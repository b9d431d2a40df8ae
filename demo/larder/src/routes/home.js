import { GUEST } from '../account/session.js'
import { recommendations } from '../catalog/recommendations.js'
import { html, layout, money } from '../pages.js'

export async function showHome({ session }, shop) {
  const products = shop.database.query('select sku, name, price from products order by name limit 6')
  const recommended = session.user_id === GUEST ? [] : await recommendations(session.user_id, shop)
  return { page: homePage([...recommended, ...products], shop) }
}

/** Requests that fail on purpose. */
const FAILURES = [
  ['POST', '/gift-cards', { code: 'WINTER-2023' }, 'Redeem an old gift card (a new error)'],
  ['GET', '/cart', { coupon: 'SPRING12' }, 'Open a cart with a discontinued product'],
  ['POST', '/checkout/confirm', { order_id: '482115', delivery: 'pickup' }, 'Order for pickup (broken since 5.13.0)'],
  ['POST', '/pay', { order_id: '482113', amount: '43.50', card_number: '4242 4242 4242 4242' }, 'Pay with a bad card'],
  [
    'POST',
    '/pay',
    { order_id: '482114', amount: '43.50', card_number: '4000 0000 0000 9999' },
    'Pay while the provider is slow',
  ],
  ['POST', '/checkout/address', { city: 'Lyon', postal_code: '123' }, 'Enter a wrong postal code'],
  ['GET', '/search', { q: 'rye bread' }, 'Search while the search server is down'],
  ['GET', '/delivery/482116', {}, 'Track a delivery'],
  ['GET', '/products/TEA-9999', {}, 'Open a product that does not exist'],
]

function homePage(products, { dashboard_path }) {
  return layout(
    'Groceries by bicycle',
    html`<p>A small shop that fails on purpose. Break something, then find it in the
      <a href="${dashboard_path}">dashboard</a>.</p>
    <h2>Break something</h2>
    <ul class="failures">${FAILURES.map(failureButton)}
      <li><button id="basket" type="button">Update the basket (fails in the browser)</button></li>
    </ul>
    <h2>Products</h2>
    <ul>${products.map(productLink)}</ul>
    <script src="/faultboard.js"></script>
    <script src="/assets/basket.min.js"></script>`,
  )
}

function failureButton([method, path, fields, label]) {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<li><form method="${method}" action="${path}">${inputs}<button>${label}</button></form></li>`
}

function productLink({ sku, name, price }) {
  return html`<li><a href="/products/${sku}">${name}</a> ${money(price)}</li>`
}

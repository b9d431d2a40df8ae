import { applyCoupon, cartTotal } from '../cart.js'
import { html, layout, money } from '../pages.js'

export function showCart({ session, query }, { database, tracker }) {
  const lines = database.query('select sku, quantity from cart_lines where user_id = ?', session.user_id)
  tracker.setTags({ cart_size: lines.length, coupon: query.coupon ?? 'none' })
  const products = new Map(database.query('select sku, name, price from products').map((item) => [item.sku, item]))
  const discount = applyCoupon(query.coupon ?? '')
  const total = cartTotal({ lines, discount }, products)
  return { page: layout('Your cart', html`<p>${lines.length} items, ${money(total)}</p>`) }
}

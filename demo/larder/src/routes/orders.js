import { html, layout, money } from '../pages.js'

/** Runs a separate query for the products of each order: see "N+1 queries" in the dashboard. */
export function listOrders({ session, query }, { database }) {
  const orders = database.query('select id, total, sku from past_orders where user_id = ?', session.user_id)
  const rows = orders.map(({ id, total, sku }) => {
    const [product] = database.query('select name from products where sku = ?', sku)
    return html`<li>${id}: ${product?.name ?? sku}, ${money(total)}</li>`
  })
  const first = Number(query.page ?? 1) * 10 - 10
  return { page: layout('Your orders', html`<ul>${rows.slice(first)}</ul>`) }
}

export function showDelivery({ params }, { tracker }) {
  tracker.setTags({ carrier: 'bicycle' })
  return { page: layout('Your delivery', deliveryNote({ order: params.order, fee: 290 })) }
}

function deliveryNote({ order, fee }) {
  // The import was lost in 5.12.0.
  return html`<p>Order ${order} arrives today. Delivery fee: ${formatMoney(fee)}</p>`
}

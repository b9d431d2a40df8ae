import { html, layout } from '../pages/layout.js'
import { charge } from '../payment.js'

export async function pay({ body }, { tracker }) {
  tracker.setTags({ payment_provider: 'northpay' })
  const { status } = await charge(body, tracker)
  return { page: layout('Payment', html`<p>Order ${body.order_id}: ${status}</p>`) }
}

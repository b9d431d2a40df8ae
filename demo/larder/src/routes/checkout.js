import { giftCardExpiry } from '../checkout/gift-card.js'
import { checkAddress, chooseSlot, finishCheckout, saveOrder } from '../checkout/order.js'
import { sendReceipt } from '../checkout/send-receipt.js'
import { html, layout, money } from '../pages.js'
import { charge } from '../payment.js'

export function saveAddress({ body }, { tracker }) {
  tracker.setTags({ city: body.city })
  const address = checkAddress(body)
  return { page: layout('Address saved', html`<p>We deliver to ${address.city}.</p>`) }
}

export async function confirmOrder({ body, session }, { database, tracker }) {
  const { order_id, delivery, payment_state: state = 'paid' } = body
  tracker.setTags({ delivery, payment_state: state })
  finishCheckout(order_id, { state })
  tracker.addBreadcrumb({ category: 'payment', message: `Payment for order ${order_id} captured` })
  const order = { id: Number(order_id), user_id: session.user_id, total: 4350, slot: chooseSlot(delivery) }
  saveOrder(order, database)
  await sendReceipt(order_id)
  return { page: layout('Thank you', html`<p>Order ${order_id}: ${money(order.total)}</p>`) }
}

export async function pay({ body }, { tracker }) {
  tracker.setTags({ payment_provider: 'northpay' })
  const { status } = await charge(body, tracker)
  return { page: layout('Payment', html`<p>Order ${body.order_id}: ${status}</p>`) }
}

export function redeemGiftCard({ body }, { tracker }) {
  tracker.setTags({ gift_card: body.code })
  const expiry = giftCardExpiry(body.code)
  return { page: layout('Gift card', html`<p>Your gift card is valid until ${expiry.slice(0, 10)}.</p>`) }
}

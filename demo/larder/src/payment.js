import { setTimeout } from 'node:timers/promises'

export class PaymentDeclinedError extends Error {
  name = 'PaymentDeclinedError'
}

export async function charge({ order_id, amount, card_number }, tracker) {
  const result = await postCharge({ order_id, amount, card_number }, tracker)
  if (result.status === 'declined') {
    throw new PaymentDeclinedError(`The card was declined for order ${order_id}: ${result.reason}`)
  }
  return result
}

export class PaymentTimeoutError extends Error {
  name = 'TimeoutError'
}

/** Test cards of the payment provider, by their last four digits. */
const RESPONSES = {
  4242: { status: 'declined', reason: 'insufficient_funds', delay_ms: 5 },
  1881: { status: 'paid', delay_ms: 5 },
  9999: { status: 'paid', delay_ms: 5000 },
}
const TIMEOUT_MS = 60

async function postCharge({ order_id, amount, card_number }, tracker) {
  tracker.addBreadcrumb({
    category: 'http',
    message: 'POST https://payments.example/charges',
    metadata: { order_id, amount },
  })
  const { delay_ms, ...result } = RESPONSES[card_number.slice(-4)] ?? RESPONSES[1881]
  try {
    return await setTimeout(delay_ms, result, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (cause) {
    throw new PaymentTimeoutError(`The payment provider did not respond within ${TIMEOUT_MS} ms`, { cause })
  }
}

import { connect } from 'node:net'

/** Sends the receipt. Nothing is reported if that fails: see "Swallowed exceptions" in the dashboard. */
export async function sendReceipt(order_id) {
  try {
    await openMailServer(`Receipt for order ${order_id}`)
  } catch {
    // The customer can print the receipt later.
  }
}

async function openMailServer(subject) {
  const reason = await new Promise((resolve) => {
    connect({ host: '127.0.0.1', port: 7025 }).once('error', resolve)
  })
  throw new Error(`Mail "${subject}" was not sent: ${reason.message}`)
}

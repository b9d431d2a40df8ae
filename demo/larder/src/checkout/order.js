export class ValidationError extends Error {
  name = 'ValidationError'
}

const POSTAL_CODES = { Lisbon: /^\d{4}-\d{3}$/, Leeds: /^LS\d+ \d\w\w$/, Lyon: /^69\d{3}$/ }

export function checkAddress({ city, postal_code }) {
  const pattern = POSTAL_CODES[city] ?? /^\d{5}$/
  if (!pattern.test(postal_code)) {
    throw new ValidationError(`Postal code "${postal_code}" is not valid for "${city}"`)
  }
  return { city, postal_code }
}

const SLOTS = { morning: '08:00-12:00', evening: '17:00-21:00' }

/** Delivery slot of an order. Customers who collect their order do not choose one. */
export function chooseSlot(delivery) {
  return SLOTS[delivery] ?? null
}

export class CheckoutError extends Error {
  name = 'CheckoutError'
}

export function finishCheckout(order_id, payment) {
  if (payment.state === 'unknown') {
    throw new CheckoutError(`Order ${order_id} could not be placed: payment state unknown`)
  }
  return { order_id, state: 'placed' }
}

export class OrderNotSavedError extends Error {
  name = 'OrderNotSavedError'
}

/** Since 5.13.0, every order has a delivery slot. */
export function saveOrder(order, database) {
  const { id, user_id, total, slot } = order
  try {
    database.query('insert into orders (id, user_id, total, slot) values (?, ?, ?, ?)', id, user_id, total, slot)
  } catch (cause) {
    throw new OrderNotSavedError(`Order ${id} is paid, but could not be saved`, { cause })
  }
}

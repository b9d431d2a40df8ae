/** Sum of all lines in cents, after the discount. */
export function cartTotal({ lines, discount }, products) {
  let total = 0
  for (const line of lines) total += lineTotal(line, products)
  return Math.round(total * (1 - discount))
}

/** Price of one line in cents. */
function lineTotal(line, products) {
  const product = products.get(line.sku)
  return line.quantity * product.price
}

const DISCOUNTS = { SPRING: 0.1, WELCOME: 0.15, SUMMER: 0.2 }

/** Discount of a coupon such as SPRING12, from 0 to 1. A coupon can include another coupon. */
export function applyCoupon(coupon, included = {}) {
  const name = coupon.replace(/\d+$/, '')
  const next = included[name]
  return next ? applyCoupon(next, included) : (DISCOUNTS[name] ?? 0)
}

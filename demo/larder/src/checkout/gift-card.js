export class GiftCardError extends Error {
  name = 'GiftCardError'
}

/** Gift cards have an expiry date since 2024. Older cards have only a month. */
const GIFT_CARDS = {
  'SPRING-2026': { balance: 2500, expires: '2027-12-31' },
  'WINTER-2023': { balance: 4000, expires: 'December' },
}

export function giftCardExpiry(code) {
  const { expires } = GIFT_CARDS[code]
  try {
    return new Date(expires).toISOString()
  } catch (cause) {
    throw new GiftCardError(`Gift card ${code} has no valid expiry date`, { cause })
  }
}

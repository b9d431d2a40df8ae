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

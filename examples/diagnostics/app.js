// Configured by FAULTBOARD_… variables (see .env.example), because Faultboard loads before this file.
import express from 'express'
import { capture, dashboard } from 'faultboard/express'

const app = express()
app.use(dashboard())

app.get('/orders/:id', (request) => {
  const order = { id: request.params.id, items: [{ title: 'A book', price: 12 }], card_number: '4111 1111 1111 1111' }
  const total = order.items.reduce((sum, item) => sum + item.price.amount.value, 0)
  return total
})

app.get('/prices', (_request, response) => {
  response.json({ price: priceOr(10) })
})

app.use(capture())
app.listen(process.env.PORT ?? 3000)

/** Hides an outage: every call fails, and the exception is swallowed. */
function priceOr(fallback) {
  try {
    throw new Error('The price service is unavailable')
  } catch {
    return fallback
  }
}

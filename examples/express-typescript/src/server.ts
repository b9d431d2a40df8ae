import express, { type NextFunction, type Request, type Response } from 'express'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'

Tracker.configure((config) => {
  config.dashboard_username = 'admin'
  config.dashboard_password = process.env.DASHBOARD_PASSWORD ?? null
  config.custom_severity_rules = [[/^OrderError$/, 'high']]
})

class OrderError extends Error {
  override name = 'OrderError'
}

const app = express()
app.use(dashboard())

app.get('/orders/:id', async (request: Request) => {
  // Added to errors of this request only.
  Tracker.setTags({ order: String(request.params.id) })
  throw new OrderError('Could not load the order')
})

app.use(capture())
// Your own error handler sends the response.
app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
  response.status(500).json({ error: error.name })
})
app.listen(Number(process.env.PORT ?? 3000))

import { createServer } from 'node:http'
import { Tracker } from 'faultboard'
import { withFaultboard } from 'faultboard/node'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const handle = withFaultboard(async (request, response) => {
  if (request.url === '/orders') await loadOrders()
  response.end('Hello\n')
})

const server = createServer(async (request, response) => {
  try {
    await handle(request, response)
  } catch {
    // The error is already recorded. The response is up to your application.
    response.statusCode = 500
    response.end('Something went wrong\n')
  }
})
server.listen(process.env.PORT ?? 3000)

async function loadOrders() {
  throw new Error('Could not load orders')
}

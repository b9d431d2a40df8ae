import { createServer } from 'node:http'
import { Tracker } from 'faultboard'
import { withFaultboard } from 'faultboard/node'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const server = createServer(
  withFaultboard(async (request, response) => {
    if (request.url === '/orders') await loadOrders()
    response.end('Hello\n')
  }),
)
// A rejected handler is the host's to answer, with Faultboard as without it.
process.on('unhandledRejection', () => {})
server.listen(process.env.PORT ?? 3000)

async function loadOrders() {
  throw new Error('The orders cannot be read')
}

import { serve } from '@hono/node-server'
import { Tracker } from 'faultboard'
import { withFaultboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = {
  port: Number(process.env.PORT ?? 3000),
  fetch: withFaultboard(
    async () => {
      throw new Error('The first error')
    },
    { remote_address: (_request, { incoming }) => incoming.socket.remoteAddress },
  ),
}
serve(app)

import { serve } from '@hono/node-server'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/hono'
import { Hono } from 'hono'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = new Hono()
app.use(faultboard())
app.get('/', () => {
  throw new Error('The first error')
})
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) })

import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/h3'
import { H3, serve } from 'h3'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = new H3()
app.register(faultboard())
app.get('/', () => {
  throw new Error('The first error')
})
serve(app, { port: process.env.PORT ?? 3000 })

import express from 'express'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = express()
app.use(dashboard())
app.get('/', () => {
  throw new Error('The first error')
})
app.use(capture())
app.listen(process.env.PORT ?? 3000)

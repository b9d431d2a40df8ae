import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/koa'
import Koa from 'koa'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = new Koa()
app.use(faultboard())
app.use(async () => {
  throw new Error('The first error')
})
app.listen(process.env.PORT ?? 3000)

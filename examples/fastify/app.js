import Fastify from 'fastify'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/fastify'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = Fastify()
app.register(faultboard)
app.get('/', async () => {
  throw new Error('The first error')
})
await app.listen({ port: Number(process.env.PORT ?? 3000) })

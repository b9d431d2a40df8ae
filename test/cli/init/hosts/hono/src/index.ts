import { serve } from '@hono/node-server'
import { Hono } from 'hono'
// with the other imports

type Variables = { visitor: string }

const app = new Hono<{ Variables: Variables }>()
// after app is created, before other middleware and the routes

app.get('/orders', () => {
  throw new Error('Could not load orders')
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) })

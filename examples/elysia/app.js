import { serve } from '@hono/node-server'
import { Elysia } from 'elysia'
import { Tracker } from 'faultboard'
import { capture, withFaultboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const recordError = capture()

const app = new Elysia()
  .onError(({ code, error, request, route, params }) => {
    // A thrown `status(404)` is a response, not an error, and has a number as its code.
    if (typeof code !== 'number') recordError(error, request, { route, params })
  })
  .get('/orders/:id', ({ params, status }) => {
    if (params.id === '0') throw status(404, 'No such order')
    throw new Error('Could not load the order')
  })

const remote_address = (_request, { incoming }) => incoming.socket.remoteAddress
serve({ fetch: withFaultboard(app.fetch, { remote_address }), port: Number(process.env.PORT ?? 3000) })

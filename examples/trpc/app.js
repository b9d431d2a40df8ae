import { serve } from '@hono/node-server'
import { initTRPC } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { Tracker } from 'faultboard'
import { capture, withFaultboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const t = initTRPC.create()
const router = t.router({
  orders: t.procedure.query(() => {
    throw new Error('Could not load orders')
  }),
})

const recordError = capture()
const remote_address = (_request, { incoming }) => incoming.socket.remoteAddress

function handle(request, env) {
  return fetchRequestHandler({
    endpoint: '/trpc',
    req: request,
    router,
    onError({ error, path }) {
      if (getHTTPStatusCodeFromError(error) < 500) return
      // tRPC wraps errors of procedures in a TRPCError.
      recordError(error.cause ?? error, request, { route: path, remote_address: remote_address(request, env) })
    },
  })
}

serve({ fetch: withFaultboard(handle, { remote_address }), port: Number(process.env.PORT ?? 3000) })

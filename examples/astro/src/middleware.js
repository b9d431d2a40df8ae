import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

let serveDashboard
const recordError = capture()

export async function onRequest(context, next) {
  // A build also runs the middleware, for prerendered pages, and must not open a database.
  if (context.isPrerendered) return next()
  const { request, routePattern: route, params, locals } = context
  // Read only if needed, because Astro throws if it does not know the address.
  const client = {
    get remote_address() {
      return context.clientAddress
    },
  }
  serveDashboard ??= dashboard()
  const response = await serveDashboard(request, client)
  if (response) return response
  try {
    return await next()
  } catch (error) {
    recordError(error, request, Object.assign(client, { route, params, user: locals.user }))
    throw error
  }
}

import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

let serveDashboard
const recordError = capture()

export async function onRequest(context, next) {
  // A build also runs the middleware, for prerendered pages, and must not open a database.
  if (context.isPrerendered) return next()
  const { request, clientAddress: remote_address, routePattern: route, params, locals } = context
  serveDashboard ??= dashboard()
  const response = await serveDashboard(request, { remote_address })
  if (response) return response
  try {
    return await next()
  } catch (error) {
    recordError(error, request, { remote_address, route, params, user: locals.user })
    throw error
  }
}

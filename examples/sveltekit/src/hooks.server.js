import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/fetch'
import { building } from '$app/environment'
import { env } from '$env/dynamic/private'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: env.DASHBOARD_PASSWORD })

// A build also loads this file and must not open a database.
const serveDashboard = building ? null : dashboard()
const recordError = capture()

export async function handle({ event, resolve }) {
  const response = await serveDashboard?.(event.request, clientAddress(event))
  return response ?? resolve(event)
}

export function handleError({ error, event }) {
  if (building) return
  const { request, route, params, locals } = event
  const details = { route: route.id, params, user: locals.user }
  recordError(error, request, Object.assign(clientAddress(event), details))
}

// Read only if needed, because SvelteKit throws if a proxy did not send the address.
function clientAddress(event) {
  return {
    get remote_address() {
      return event.getClientAddress()
    },
  }
}

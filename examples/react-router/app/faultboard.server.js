import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/fetch'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

export const serveDashboard = dashboard()
const recordError = capture()

export function handleError(error, { request, params }) {
  // React Router also calls this function if the client disconnects.
  if (!request.signal.aborted) recordError(error, request, { params })
  console.error(error)
}

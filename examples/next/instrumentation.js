import { register as startFaultboard } from 'faultboard/next'

export { onRequestError } from 'faultboard/next'

export async function register() {
  // Next.js also compiles this file for the Edge runtime, where the tracker cannot load. webpack removes the import
  // only if the condition has exactly this form.
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { Tracker } = await import('faultboard')
    Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })
    startFaultboard()
  }
}

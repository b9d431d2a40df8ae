import { register as startFaultboard } from 'faultboard/next'

export { onRequestError } from 'faultboard/next'

export async function register() {
  // This file is compiled for the Edge runtime as well, where the tracker cannot be loaded; webpack understands only
  // this form of the question.
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { Tracker } = await import('faultboard')
    Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })
    startFaultboard()
  }
}

import * as faultboard from 'faultboard/next'

// The same build runs without Faultboard, to be compared with.
const bare = process.env.HOST_WITHOUT_FAULTBOARD !== undefined

export const onRequestError = bare ? undefined : faultboard.onRequestError

export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs' && !bare) {
    const { Tracker } = await import('faultboard')
    globalThis.trackerOfInstrumentation = Tracker
    Tracker.configure({ authenticate })
    faultboard.register()
  }
}

/** Receives a `Request` from the App Router, and a request of Node.js from the Pages Router. */
function authenticate({ headers }) {
  const name = headers instanceof Headers ? headers.get('x-user') : headers['x-user']
  return name ? { name, role: 'viewer' } : null
}

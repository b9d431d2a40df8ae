import { Tracker } from 'faultboard'
import faultboard from 'faultboard/nitro'

Tracker.configure({
  // The middleware of the host has set the user.
  authenticate: (event) => (event.context.user?.name ? { name: event.context.user.name, role: 'viewer' } : null),
})

// The same build runs without Faultboard, to be compared with.
export default process.env.HOST_WITHOUT_FAULTBOARD === undefined ? faultboard : () => {}

import { describe } from 'vitest'
import { describeAuthentication } from './adapter-authentication.js'
import { describeCapture } from './adapter-capture.js'
import { describeDashboard } from './adapter-dashboard.js'
import { describeHarmlessness } from './adapter-harmless.js'
import { hostsOf } from './contract-host.js'
import type { AdapterHarness } from './harness.js'

export type { AdapterHarness, Variant } from './harness.js'
export { compress, failingStream, HOST_HEADERS, ROUTES, sendResult } from './host-routes.js'

/** What every adapter must do, shown on the real framework and compared with the same host without Faultboard. */
export function describeAdapter(harness: AdapterHarness): void {
  describe(`the ${harness.name} adapter`, () => {
    const hosts = hostsOf(harness)
    describe('the dashboard', () => describeDashboard(harness, hosts))
    describe('the sign-in', () => describeAuthentication(harness, hosts))
    describe('what is captured', () => describeCapture(harness, hosts))
    describe('what the host notices', () => describeHarmlessness(harness, hosts))
  })
}

import { describe } from 'vitest'
import { describeAuthentication } from './adapter-authentication.js'
import { describeCapture } from './adapter-capture.js'
import { describeDashboard } from './adapter-dashboard.js'
import { describeHarmlessness } from './adapter-harmless.js'
import { createHosts } from './contract-host.js'
import type { AdapterHarness } from './harness.js'

export type { AdapterHarness, Variant } from './harness.js'
export { compress, failingStream, HOST_HEADERS, ROUTES, sendResult } from './host-routes.js'

/** Behavior of every adapter, tested on the real framework and compared with the same host without Faultboard. */
export function describeAdapter(harness: AdapterHarness): void {
  describe(`the ${harness.name} adapter`, () => {
    const hosts = createHosts(harness)
    describe('dashboard', () => describeDashboard(harness, hosts))
    describe('sign-in', () => describeAuthentication(harness, hosts))
    describe('capture', () => describeCapture(harness, hosts))
    describe('effects on the host', () => describeHarmlessness(harness, hosts))
  })
}

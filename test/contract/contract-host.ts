import { createServer } from 'node:http'
import { afterEach } from 'vitest'
import type { Settings } from '../../src/config/options.js'
import type { ErrorRecord } from '../../src/index.js'
import { TrackerInstance } from '../../src/tracker.js'
import { migratedSqlite } from '../support/databases.js'
import { listening, PASSWORD, signIn, USER } from '../support/host.js'
import type { AdapterHarness, Variant } from './harness.js'
import { type Outcome, type Visit, visit } from './visit.js'

export interface ContractHost {
  tracker: TrackerInstance
  origin: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: string): Promise<Response>
  visit(path: string, more?: Visit): Promise<Outcome>
  /** What was recorded up to now, with all that is known of each. */
  recorded(): Promise<ErrorRecord[]>
}

/** Starts hosts of one framework, and stops them when their test is done. */
export function hostsOf(harness: AdapterHarness) {
  const { onProcessError } = harness
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function listen(tracker: TrackerInstance | null, variant: Variant): Promise<string> {
    const built = await harness.host(tracker, variant)
    const host = typeof built === 'function' ? { listener: built, close() {} } : built
    const server = createServer(host.listener)
    const origin = await listening(server)
    closing.push(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await host.close()
    })
    return origin
  }

  return {
    /** The host with Faultboard. */
    async start(settings: Settings = {}, variant: Variant = 'own_handler'): Promise<ContractHost> {
      const { url, remove } = await migratedSqlite()
      closing.push(remove)
      const tracker = new TrackerInstance(
        {
          database: url,
          max_event_loop_lag_ms: null,
          dashboard_username: USER,
          dashboard_password: PASSWORD,
          // What only reaches the process is not the adapter's; the process hooks have tests of their own.
          enable_error_subscriber: false,
          ...settings,
        },
        { env: {}, write: () => {} },
      )
      closing.push(() => tracker.shutdown())
      const origin = await listen(tracker, variant)
      return {
        tracker,
        origin,
        get: (path, headers = {}) =>
          fetch(`${origin}${path}`, { headers: { ...signIn(), ...headers }, redirect: 'manual' }),
        post: (path, body) =>
          fetch(`${origin}${path}`, {
            method: 'POST',
            body,
            redirect: 'manual',
            headers: { ...signIn(), 'content-type': 'application/x-www-form-urlencoded' },
          }),
        visit: (path, more) => visit(origin, path, { ...more, onProcessError }),
        async recorded() {
          await tracker.flush()
          const errors = await tracker.Queries.ErrorsList.call()
          return Promise.all(errors.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
        },
      }
    },

    /** The same host without Faultboard. */
    async bare(variant: Variant = 'own_handler'): Promise<{ visit: ContractHost['visit'] }> {
      const origin = await listen(null, variant)
      return { visit: (path, more) => visit(origin, path, { ...more, onProcessError }) }
    },
  }
}

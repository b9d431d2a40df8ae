import { createServer } from 'node:http'
import { afterAll, afterEach } from 'vitest'
import type { ErrorRecord } from '../../src/index.js'
import type { Settings } from '../../src/options.js'
import { TrackerInstance } from '../../src/tracker.js'
import { migratedSqlite } from '../support/databases.js'
import { PASSWORD, signIn, startListening, USER } from '../support/host.js'
import type { AdapterHarness, Variant } from './harness.js'
import { type Outcome, type Visit, visit } from './visit.js'

export interface ContractHost {
  tracker: TrackerInstance
  origin: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: string): Promise<Response>
  visit(path: string, options?: Visit): Promise<Outcome>
  /** Returns the recorded errors with all their data. */
  recorded(): Promise<ErrorRecord[]>
  /** Makes a request and returns the outcome with the errors that it added, counting their new occurrences only. */
  visitAndRecord(path: string, options?: Visit): Promise<{ outcome: Outcome; added: AddedError[] }>
}

export type AddedError = Pick<ErrorRecord, 'id' | 'message' | 'severity' | 'occurrence_count'>

export interface ContractHosts {
  /** Starts the host with Faultboard on an empty database. Stops it at the end of the test. */
  start(settings?: Settings, variant?: Variant): Promise<ContractHost>
  /** Returns a host shared by all tests of the adapter that neither change its tracker nor read errors. */
  shared(variant?: Variant): Promise<ContractHost>
  /** Returns a host shared by the tests of the adapter that read errors of their own request only. */
  recording(variant?: Variant): Promise<ContractHost>
  /** Returns the same host without Faultboard, shared by all tests of the adapter. */
  bare(variant?: Variant): Promise<{ visit: ContractHost['visit'] }>
}

type Closers = (() => unknown)[]

/** Starts hosts of one framework, within the describe block of its adapter. */
export function createHosts(harness: AdapterHarness): ContractHosts {
  const { onProcessError } = harness
  const testClosers: Closers = []
  const adapterClosers: Closers = []
  afterEach(() => closeAll(testClosers))
  afterAll(() => closeAll(adapterClosers))

  async function listen(tracker: TrackerInstance | null, variant: Variant, closers: Closers): Promise<string> {
    const built = await harness.createHost(tracker, variant)
    const host = typeof built === 'function' ? { listener: built, close() {} } : built
    const server = createServer(host.listener)
    const origin = await startListening(server)
    closers.push(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await host.close()
    })
    return origin
  }

  async function open(settings: Settings, variant: Variant, closers: Closers): Promise<ContractHost> {
    const { url, remove } = await migratedSqlite()
    closers.push(remove)
    const tracker = new TrackerInstance(
      {
        database: url,
        max_event_loop_lag_ms: null,
        dashboard_username: USER,
        dashboard_password: PASSWORD,
        // Errors that only the process receives are tested with the process hooks.
        enable_error_subscriber: false,
        ...settings,
      },
      { env: {}, write: () => {} },
    )
    closers.push(() => tracker.shutdown())
    const origin = await listen(tracker, variant, closers)
    const visitHost = (path: string, options?: Visit) => visit(origin, path, { ...options, onProcessError })
    const listErrors = async () => {
      await tracker.flush()
      return tracker.Queries.ErrorsList.call()
    }
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
      visit: visitHost,
      async recorded() {
        const errors = await listErrors()
        return Promise.all(errors.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
      },
      async visitAndRecord(path, options) {
        const counts = new Map((await listErrors()).map(({ id, occurrence_count }) => [id, occurrence_count]))
        const outcome = await visitHost(path, options)
        const added = (await listErrors()).map(({ id, message, severity, occurrence_count }) => ({
          ...{ id, message, severity },
          occurrence_count: occurrence_count - (counts.get(id) ?? 0),
        }))
        return { outcome, added: added.filter(({ occurrence_count }) => occurrence_count > 0) }
      },
    }
  }

  return {
    start: (settings = {}, variant = 'own_handler') => open(settings, variant, testClosers),
    shared: oncePerVariant((variant) => open({}, variant, adapterClosers)),
    recording: oncePerVariant((variant) => open({}, variant, adapterClosers)),
    bare: oncePerVariant(async (variant) => {
      const origin = await listen(null, variant, adapterClosers)
      return { visit: (path, options) => visit(origin, path, { ...options, onProcessError }) }
    }),
  }
}

function oncePerVariant<Host>(createHost: (variant: Variant) => Promise<Host>): (variant?: Variant) => Promise<Host> {
  const hosts = new Map<Variant, Promise<Host>>()
  return (variant = 'own_handler') => {
    const host = hosts.get(variant) ?? createHost(variant)
    hosts.set(variant, host)
    return host
  }
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
}

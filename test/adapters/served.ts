import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import type { ErrorRecord } from '../../src/index.js'
import type { Settings } from '../../src/options.js'
import { TrackerInstance } from '../../src/tracker.js'
import { PASSWORD, signIn, startListening, USER } from '../support/host.js'

/** Creates a tracker that is shut down after the test. */
export function testTracker(settings: Settings = {}): TrackerInstance {
  const tracker = new TrackerInstance(
    {
      database: 'sqlite::memory:',
      max_event_loop_lag_ms: null,
      dashboard_username: USER,
      dashboard_password: PASSWORD,
      ...settings,
    },
    { env: {}, write: () => {} },
  )
  onTestFinished(() => tracker.shutdown())
  return tracker
}

/** Serves a host until the test ends. Returns a fetch function with the dashboard credentials. */
export async function serveHost(listener: RequestListener) {
  const server = createServer(listener)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers: { ...signIn(), ...init.headers } })
}

/** Recorded messages with their occurrence counts. */
export async function occurrencesByMessage(tracker: TrackerInstance): Promise<Record<string, number>> {
  await tracker.flush()
  const errors = await tracker.Queries.ErrorsList.call()
  return Object.fromEntries(errors.map(({ message, occurrence_count }) => [message, occurrence_count]))
}

export async function firstRecordedError(tracker: TrackerInstance): Promise<ErrorRecord> {
  await tracker.flush()
  const [error] = await tracker.Queries.ErrorsList.call()
  return tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

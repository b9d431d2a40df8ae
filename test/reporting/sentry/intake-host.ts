import { createServer } from 'node:http'
import express from 'express'
import { onTestFinished } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { type SentryIntakeOptions, sentryIntake } from '../../../src/reporting/sentry/intake.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import type { ErrorRecord } from '../../../src/triage/queries/error-record.js'
import type { TestDatabase } from '../../support/databases.js'
import { startListening } from '../../support/host.js'
import { freshTracker, type TestTracker, temporaryFolder } from '../../support/tracker.js'

export const KEY = '8c1f0a6d2b3e4f50a1b2c3d4e5f60718'

/** Used by tests that do not depend on the database. */
export const ON_SQLITE: Omit<TestDatabase, 'empty'> = {
  dialect: 'sqlite',
  fresh: async () => `sqlite:${temporaryFolder()}/test.sqlite3`,
}

export interface IntakeHost extends TestTracker {
  origin: string
  dsn: string
  /** Sends the text or bytes of an envelope unchanged. */
  send(body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>): Promise<Response>
  /** Sends one event. */
  event(event: object, header?: object): Promise<Response>
  /** Error recorded with this message. */
  find(message: string): Promise<ErrorRecord>
}

/** Starts an Express host with the intake at /sentry. */
export async function intakeHost(
  database: Omit<TestDatabase, 'empty'>,
  { settings, ...options }: Partial<SentryIntakeOptions> & { settings?: Settings } = {},
): Promise<IntakeHost> {
  const parts = await freshTracker(database, settings)
  parts.clock.now = null
  const app = express()
  app.use('/sentry', sentryIntake({ keys: [KEY], tracker: parts.tracker, ...options }).express)
  const server = createServer(app)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const send: IntakeHost['send'] = (body, headers = {}) =>
    fetch(`${origin}/sentry/api/1/envelope/?sentry_key=${KEY}`, { method: 'POST', body, headers })
  return {
    ...parts,
    origin,
    dsn: `${origin.replace('://', `://${KEY}@`)}/sentry/1`,
    send,
    event: (event, header = {}) => send(createEnvelope([{ type: 'event' }, event], header)),
    find: (message) => findError(parts.tracker, message),
  }
}

/** Newline-delimited envelope: the header, then a header and a payload for each item. */
export function createEnvelope(item: readonly [header: object, payload: object], header: object = {}): string {
  return `${JSON.stringify(header)}\n${item.map((part) => JSON.stringify(part)).join('\n')}\n`
}

async function findError(tracker: TrackerInstance, message: string): Promise<ErrorRecord> {
  await tracker.flush()
  const errors = await tracker.Queries.ErrorsList.call({ search: message })
  if (errors.length !== 1) throw new Error(`${errors.length} errors with the message ${message}`)
  return tracker.Queries.FindError.call({ error_id: errors[0]?.id ?? 0 })
}

import type * as v from 'valibot'
import { beforeAll, onTestFinished } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { logError } from '../../src/capture/log-error.js'
import type { Context } from '../../src/context.js'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { sweepDeliveries } from '../../src/notifications/rules/dispatch.js'
import { type Operation, perform } from '../../src/operation.js'
import type { Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import type { Selectable } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import type { DeliveriesTable, Schema } from '../../src/store/schema.js'
import { openHttpInbox } from '../contract/http-inbox.js'
import type { Inbox } from '../contract/inbox.js'
import type { TestDatabase } from '../support/databases.js'
import { CREDENTIALS, NOON, type TrackerPlace, temporaryFolder, withDatabase } from '../support/tracker.js'

/** A tracker whose messages are written down and handed over, but sent only when the test says so. */
export interface Desk {
  context: Context
  place: TrackerPlace
  clock: { now: number }
  lines: string[]
  /** Records an error and gives its id. */
  log(error_type: string, fields?: Partial<LogErrorInput>): Promise<number>
  run<Schema extends v.GenericSchema, Result>(operation: Operation<Schema, Result>, input?: unknown): Promise<Result>
  rows(): Promise<Selectable<DeliveriesTable>[]>
  /** The keys of all that was written down, in its order. */
  keys(): Promise<string[]>
  /** Changes every message. */
  change(values: Partial<Selectable<DeliveriesTable>>): Promise<void>
  /** Does the job of every message that is due. */
  sendDue(): Promise<void>
  /** Ends the tracker, and with it all that happens in the background. Happens at the end of the test in any case. */
  stop(): Promise<void>
}

export const WEBHOOK: Settings = { webhook_url: 'http://127.0.0.1:9/nobody' }

/** Opens desks on one database for all tests of a block, each on empty tables: to make them takes the longest. */
export function desksOn(database: TestDatabase): (settings?: Settings) => Promise<Desk> {
  let url = ''
  beforeAll(async () => {
    url = await database.fresh()
    await withDatabase(url, migrate)
  })
  return async (settings = WEBHOOK) => {
    await withDatabase(url, async ({ read }) => {
      for (const table of TABLES) await read.deleteFrom(table).execute()
    })
    return deskAt({ url, spool_path: temporaryFolder() }, settings)
  }
}

const TABLES: readonly (keyof Schema)[] = [
  'faultboard_deliveries', 'faultboard_cooldowns', 'faultboard_jobs', 'faultboard_activities', 'faultboard_baselines',
  'faultboard_error_hours', 'faultboard_application_hours', 'faultboard_releases', 'faultboard_errors', 'faultboard_leases',
  'faultboard_budget_usage', 'faultboard_rejection_hours',
] // biome-ignore format: a word list reads best as lines of words

export function deskAt(place: TrackerPlace, settings: Settings = WEBHOOK): Desk {
  const clock = { now: NOON }
  const lines: string[] = []
  const runtime = startRuntime(
    {
      ...{ database: place.url, spool_path: place.spool_path, application_name: 'shop', environment: 'test' },
      ...{ max_event_loop_lag_ms: null, run_jobs: false, dashboard_base_url: 'https://shop.example' },
      // All tests of a file stop the clock in one hour.
      notification_max_per_hour: 100_000,
      ...CREDENTIALS,
      ...settings,
    },
    { now: () => clock.now, random: () => 0.5, env: {}, write: (line) => lines.push(line) },
  )
  const { context } = runtime
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= runtime.stop()
    return stopped
  }
  onTestFinished(stop)
  const rows = () => context.database.read.selectFrom('faultboard_deliveries').selectAll().orderBy('id').execute()
  return {
    ...{ context, place, clock, lines, rows, stop },
    async log(error_type, fields = {}) {
      const logged = await logError(context, { error_type, message: 'x', ...fields })
      if (!logged?.id) throw new Error(`${error_type} was not recorded`)
      return logged.id
    },
    run: (operation, input) => perform(operation, context, input),
    async keys() {
      return (await rows()).map(({ idempotency_key }) => idempotency_key)
    },
    async change(values) {
      await context.database.read.updateTable('faultboard_deliveries').set(values).execute()
    },
    async sendDue() {
      await sweepDeliveries(context)
      for (const { id } of await rows()) await deliver(context, id, new AbortController().signal)
    },
  }
}

/** A webhook that is closed when the test is done. */
export async function webhookInbox(): Promise<Inbox> {
  const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
  onTestFinished(() => inbox.close())
  return inbox
}

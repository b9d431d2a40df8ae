import type * as v from 'valibot'
import { beforeAll, onTestFinished } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { logError } from '../../src/capture/log-error.js'
import type { Context } from '../../src/context.js'
import { claimDue, releaseExpiredClaims } from '../../src/notifications/delivery/claim-due.js'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { sweepDeliveries } from '../../src/notifications/delivery/dispatcher.js'
import { type Operation, perform } from '../../src/operation.js'
import type { Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import type { Selectable } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import type { DeliveriesTable, Schema } from '../../src/store/schema.js'
import { openHttpInbox } from '../contract/http-inbox.js'
import type { Inbox } from '../contract/inbox.js'
import type { TestDatabase } from '../support/databases.js'
import { CREDENTIALS, NOON, type TrackerStorage, temporaryFolder, withDatabase } from '../support/tracker.js'

/** A tracker that writes deliveries but sends them only on demand, unless `run_jobs` is on. */
export interface DeliveryHarness {
  context: Context
  storage: TrackerStorage
  clock: { now: number }
  lines: string[]
  /** Records an error and returns its id. */
  log(error_type: string, fields?: Partial<LogErrorInput>): Promise<number>
  run<Schema extends v.GenericSchema, Result>(operation: Operation<Schema, Result>, input?: unknown): Promise<Result>
  rows(): Promise<Selectable<DeliveriesTable>[]>
  /** Idempotency keys of all deliveries in insertion order. */
  keys(): Promise<string[]>
  /** Updates every delivery. */
  change(values: Partial<Selectable<DeliveriesTable>>): Promise<void>
  /** Claims and sends the first due delivery. Returns its id. */
  sendNext(): Promise<number | undefined>
  /** Sends all due deliveries, one after the other. */
  sendDue(): Promise<void>
  /** Stops the tracker and its background work. Called automatically when the test finishes. */
  stop(): Promise<void>
}

export const WEBHOOK: Settings = { webhook_url: 'http://127.0.0.1:9/unreachable' }

/** Opens harnesses on one database per block. Empties its tables for each test, because migrating is slow. */
export function harnessesOn(database: TestDatabase): (settings?: Settings) => Promise<DeliveryHarness> {
  let url = ''
  beforeAll(async () => {
    url = await database.fresh()
    await withDatabase(url, migrate)
  })
  return async (settings = WEBHOOK) => {
    await withDatabase(url, async ({ read }) => {
      for (const table of TABLES) await read.deleteFrom(table).execute()
    })
    const harness = harnessAt({ url, spool_path: temporaryFolder() }, settings)
    await harness.context.ready()
    return harness
  }
}

const TABLES: readonly (keyof Schema)[] = [
  'faultboard_deliveries', 'faultboard_cooldowns', 'faultboard_jobs', 'faultboard_activities', 'faultboard_baselines',
  'faultboard_error_hours', 'faultboard_application_hours', 'faultboard_releases', 'faultboard_errors', 'faultboard_leases',
  'faultboard_budget_usage', 'faultboard_rejection_hours', 'faultboard_people',
] // biome-ignore format: a word list reads best as lines of words

export function harnessAt(
  storage: TrackerStorage,
  settings: Settings = WEBHOOK,
  clock: DeliveryHarness['clock'] = { now: NOON },
): DeliveryHarness {
  const lines: string[] = []
  const runtime = startRuntime(
    {
      ...{ database: storage.url, spool_path: storage.spool_path, application_name: 'shop', environment: 'test' },
      ...{ max_event_loop_lag_ms: null, run_jobs: false, dashboard_base_url: 'https://shop.example' },
      // All tests of a file run within the same hour.
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
  const sendNext = async () => {
    const [delivery] = await claimDue(context, 1)
    if (delivery) await deliver(context, delivery, new AbortController().signal)
    return delivery?.id
  }
  return {
    ...{ context, storage, clock, lines, rows, sendNext, stop },
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
      await releaseExpiredClaims(context)
      while ((await sendNext()) !== undefined);
    },
  }
}

/** A webhook that closes when the test finishes. */
export async function webhookInbox(): Promise<Inbox> {
  const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
  onTestFinished(() => inbox.close())
  return inbox
}

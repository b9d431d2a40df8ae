import type * as v from 'valibot'
import { onTestFinished } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { logError } from '../../src/capture/log-error.js'
import type { Context } from '../../src/context.js'
import { type Operation, perform } from '../../src/operation.js'
import type { Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import { ERROR_HOURS, ERROR_ORIGINS, GROUPS, SEARCH_TEXTS } from '../../src/store/bulk/bulk-targets.js'
import type { TestDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage, NOON, type TrackerStorage } from '../support/tracker.js'

export interface ListContext {
  context: Context
  storage: TrackerStorage
  clock: { now: number }
  /** Records an error and returns its id. */
  log(error_type: string, fields?: Partial<LogErrorInput>): Promise<number>
  run<Schema extends v.GenericSchema, Result>(operation: Operation<Schema, Result>, input?: unknown): Promise<Result>
}

/** Opens a context as used by pages, on a new database. */
export async function listContext(database: TestDatabase, settings: Settings = {}): Promise<ListContext> {
  const list = contextAt(await freshStorage(database), settings)
  await list.context.ready()
  return list
}

export function contextAt(storage: TrackerStorage, settings: Settings = {}): ListContext {
  const clock = { now: NOON }
  const runtime = startRuntime(
    {
      database: storage.url,
      spool_path: storage.spool_path,
      application_name: 'shop',
      max_event_loop_lag_ms: null,
      ...CREDENTIALS,
      ...settings,
    },
    { now: () => clock.now, random: () => 0.5, env: {}, write() {} },
  )
  const { context } = runtime
  onTestFinished(() => runtime.stop())
  return {
    context,
    storage,
    clock,
    async log(error_type, fields = {}) {
      const logged = await logError(context, { error_type, message: 'x', ...fields })
      if (!logged?.id) throw new Error(`${error_type} was not recorded`)
      return logged.id
    },
    run: (operation, input) => perform(operation, context, input),
  }
}

/** Inserts many errors directly; `text` is their search text. */
export async function addGroups(
  { database, now }: Context,
  count: number,
  fieldsOf: (i: number) => { error_type?: string; severity?: string; platform?: string; text: string },
): Promise<void> {
  await database.write(async (trx) => {
    const rows = Array.from({ length: count }, (_, i) => {
      const { error_type = 'Bulk', severity = 'low', platform = 'API', text } = fieldsOf(i)
      const hash = i.toString(16).padStart(64, '0')
      return [
        ...[1, 'production', hash, error_type, text, text, null, severity, platform],
        ...[null, null, null, null, null],
        ...[1, now() - i, now() - i, now() - i],
      ]
    })
    for (let from = 0; from < rows.length; from += 500)
      await database.dialect.insertMany(trx, GROUPS, rows.slice(from, from + 500))
    const groups = await trx.selectFrom('faultboard_errors').select(['id', 'message', 'platform']).execute()
    const texts = groups.map(({ id, message }) => [id, message.toLowerCase()])
    const hours = groups.map(({ id }) => [id, now() - (now() % 3_600_000), 'low', 'API', '', 1])
    const origins = groups.map(({ id, platform }) => [id, 'platform', platform])
    for (let from = 0; from < texts.length; from += 500) {
      await database.dialect.insertMany(trx, SEARCH_TEXTS, texts.slice(from, from + 500))
      await database.dialect.insertMany(trx, ERROR_HOURS, hours.slice(from, from + 500))
      await database.dialect.insertMany(trx, ERROR_ORIGINS, origins.slice(from, from + 500))
    }
  })
}

import { onTestFinished } from 'vitest'
import type { CaptureContext } from '../../src/capture/capture-context.js'
import type { Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import type { TestDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage, NOON } from '../support/tracker.js'

/** Creates the context of a started tracker on a new database. The tracker stops when the test ends. */
export async function runningContext(database: TestDatabase, settings: Settings = {}): Promise<CaptureContext> {
  const { url, spool_path } = await freshStorage(database)
  const { context, stop } = startRuntime(
    { database: url, spool_path, application_name: 'shop', ...CREDENTIALS, ...settings },
    { now: () => NOON, random: () => 0.5, env: {}, write: () => {} },
  )
  onTestFinished(() => stop())
  await context.ready()
  return context
}

/** Adds an application and returns its id. */
export async function addApplication({ database: { read } }: CaptureContext, name: string): Promise<number> {
  await read.insertInto('faultboard_applications').values({ name, created_at: NOON }).execute()
  const row = await read.selectFrom('faultboard_applications').select('id').where('name', '=', name).executeTakeFirst()
  return row?.id ?? 0
}

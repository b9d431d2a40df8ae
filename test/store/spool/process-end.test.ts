import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { startChild } from '../../support/processes/children.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { CREDENTIALS, freshStorage, freshTracker, type TrackerStorage, trackerAt } from '../../support/tracker.js'

const EVENT: LogErrorInput = { error_type: 'Last', message: 'words' }

describeEachDatabase('process exit', (database) => {
  for (const async_logging of [false, true]) {
    test(`does not keep the process alive after one error, with async_logging ${async_logging}`, async () => {
      const storage = await freshStorage(database)
      const child = startChild('one-error', { settings: settingsAt(storage, { async_logging }), events: [EVENT] })
      expect(await child.exited).toBe(0)
      expect(JSON.parse(child.lines[0] ?? '')).toMatchObject({ state: async_logging ? 'accepted' : 'recorded' })
      expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Last': 1 })
    })
  }

  test('leaves an accepted error for the next start when the process exits', async () => {
    const storage = await freshStorage(database)
    const settings = settingsAt(storage, { async_logging: true })
    const child = startChild('one-error', { settings, events: [EVENT], exit_at_once: true })
    expect(await child.exited).toBe(0)
    await importedAt(storage)
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Last': 1 })
  })

  test('does not delay the exit when the database is unavailable', async () => {
    const storage = await freshStorage(database)
    const url = await unreachable(storage)
    const child = startChild('one-error', { settings: { ...settingsAt(storage), database: url }, events: [EVENT] })
    expect(await child.exited).toBe(0)
    expect(JSON.parse(child.lines[0] ?? '')).toMatchObject({ state: 'spooled' })
    await importedAt(storage)
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Last': 1 })
  })

  test('removes every exit hook on shutdown, even if shutdown is called twice', async () => {
    const before = hooks()
    const { tracker, url } = await freshTracker(database, { async_logging: true })
    expect(hooks()).not.toEqual(before)
    await tracker.Commands.LogError.call(EVENT)
    await Promise.all([tracker.shutdown(), tracker.shutdown()])
    expect(hooks()).toEqual(before)
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Last': 1 })
  })

  async function unreachable({ url }: TrackerStorage): Promise<string> {
    if (database.dialect === 'sqlite') return 'sqlite:/dev/null/nowhere.sqlite3'
    const proxy = await startProxy(url)
    await proxy.refuse()
    return proxy.url
  }
})

describeOneDatabase('process exit before any write to the database', (database) => {
  test('writes all errors to disk when the process exits during a storm of many groups', async () => {
    const storage = await freshStorage(database)
    const events = Array.from({ length: 2600 }, (_, i) => ({ ...EVENT, error_type: `Last${i % 1300}` }))
    const settings = { ...settingsAt(storage), max_groups_per_place: 10_000 }
    const child = startChild('exit-while-busy', { settings, events })
    expect(await child.exited).toBe(3)
    await importedAt(storage)
    const { counts } = await verifiedCounts(storage.url)
    expect(Object.keys(counts)).toHaveLength(1300)
    expect(new Set(Object.values(counts))).toEqual(new Set([2]))
  })

  test('keeps the exit code of the host when nothing can be written', async () => {
    const storage = await freshStorage(database)
    const settings = { ...settingsAt(storage), spool_path: '/dev/null/nowhere' }
    const child = startChild('exit-while-busy', { settings, events: [EVENT] })
    expect(await child.exited).toBe(3)
    expect(child.errors.join()).toContain('cannot write to the database or the spool folder')
  })
})

function settingsAt({ url, spool_path }: TrackerStorage, more = {}) {
  return { ...CREDENTIALS, database: url, spool_path, application_name: 'shop', ...more }
}

async function importedAt(storage: TrackerStorage): Promise<void> {
  const { tracker } = trackerAt(storage)
  await tracker.ready()
  await tracker.flush()
  expect((await tracker.stats()).spool.files).toBe(0)
}

function hooks(): number[] {
  return ['exit', 'beforeExit', 'uncaughtException', 'unhandledRejection'].map((event) => process.listenerCount(event))
}

import { expect, test } from 'vitest'
import { describePendingMigrations, migrate, migrationStatus } from '../../src/store/migrate.js'
import { MIGRATIONS } from '../../src/store/migrations/list.js'
import { describeEachDatabase } from '../support/databases.js'
import { startChild } from '../support/processes/children.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { CREDENTIALS, eventually, spoolIsEmpty, temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'

const ALL = Object.keys(MIGRATIONS)
const PROCESSES = 3

describeEachDatabase('migrating', (database) => {
  test('applies every migration once and reports the time of each', async () => {
    const url = await database.empty()
    const before = await withDatabase(url, migrationStatus)
    expect(before).toEqual(ALL.map((name) => ({ name, applied_at: null })))
    expect(await withDatabase(url, describePendingMigrations)).toContain('npx faultboard migrate')
    expect(await withDatabase(url, migrate)).toEqual(ALL)
    expect(await withDatabase(url, migrate)).toEqual([])
    const after = await withDatabase(url, migrationStatus)
    expect(after.map(({ name }) => name)).toEqual(ALL)
    for (const { applied_at } of after) expect(Date.parse(applied_at ?? '')).toBeGreaterThan(0)
    expect(await withDatabase(url, describePendingMigrations)).toBeNull()
  })

  test('migrates once when several processes start on an empty database', async () => {
    const url = await database.empty()
    const by_itself = database.dialect === 'sqlite'
    const settings = { ...CREDENTIALS, database: url, spool_path: temporaryFolder(), application_name: 'shop' }
    const children = Array.from({ length: PROCESSES }, () => startChild('migrate', { settings, by_itself }))
    await eventually(() => children.every(({ lines }) => lines.includes('ready')), 'all are ready')
    for (const child of children) child.process.stdin?.write('go\n')
    const ends = await Promise.all(children.map(({ exited: ended }) => ended))
    expect(children.flatMap(({ errors }) => errors)).toEqual([])
    expect(ends).toEqual(Array(PROCESSES).fill(0))
    const results = children.map(({ lines }) => JSON.parse(lines.at(-1) ?? 'null'))
    if (by_itself) {
      expect(results).toEqual(Array(PROCESSES).fill('recorded'))
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Start': PROCESSES })
    } else expect(results.flat().sort()).toEqual(ALL)
    expect((await withDatabase(url, migrationStatus)).every(({ applied_at }) => applied_at !== null)).toBe(true)
  })

  test('keeps working with a database that a newer version migrated', async () => {
    const url = await database.empty()
    await withDatabase(url, async (opened) => {
      await migrate(opened)
      const row = { name: '9999-of-tomorrow', timestamp: new Date().toISOString() }
      await opened.read
        .insertInto('faultboard_migrations' as never)
        .values(row as never)
        .execute()
      expect(await migrate(opened)).toEqual([])
    })
    const { tracker, lines } = trackerAt({ url, spool_path: temporaryFolder() })
    const logged = await tracker.Commands.LogError.call({ error_type: 'Newer', message: 'schema' })
    expect(logged?.state).toBe('recorded')
    expect(lines).toEqual([])
  })
})

describeEachDatabase('a tracker with an outdated schema', (database) => {
  if (database.dialect === 'sqlite') {
    test('a tracker migrates its own database before it writes the first error', async () => {
      for (const async_logging of [false, true]) {
        const storage = { url: await database.empty(), spool_path: temporaryFolder() }
        const { tracker, lines } = trackerAt(storage, { async_logging })
        await tracker.Commands.LogError.call({ error_type: 'First', message: 'ever' })
        await tracker.flush()
        expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop First': 1 })
        expect(lines).toEqual([])
      }
    })
    return
  }

  for (const async_logging of [false, true]) {
    test(`logs the pending migration once while errors are spooled, with async_logging ${async_logging}`, async () => {
      const storage = { url: await database.empty(), spool_path: temporaryFolder() }
      const { tracker, lines, clock } = trackerAt(storage, { async_logging })
      clock.now = null
      for (let i = 0; i < 20; i++) {
        const logged = await tracker.Commands.LogError.call({ error_type: 'Outdated', message: 'schema' })
        expect(['spooled', 'accepted']).toContain(logged?.state)
      }
      await expect(tracker.ready()).rejects.toThrow('npx faultboard migrate')
      await expect(tracker.Queries.ErrorsList.call()).rejects.toMatchObject({ code: 'schema_outdated' })
      // A second line names the spool folder after the first write.
      await eventually(() => lines.length > 1, 'the outage and the folder are logged')
      expect(lines).toHaveLength(2)
      expect(lines[0]).toContain('npx faultboard migrate')
      expect(lines[1]).toContain(storage.spool_path)

      await withDatabase(storage.url, migrate)
      await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
      expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Outdated': 20 })
    })
  }
})

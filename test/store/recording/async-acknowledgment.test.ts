import { expect, test } from 'vitest'
import { sql } from '../../../src/store/kysely.js'
import { faultyDatabase } from '../../support/databases/outage.js'
import { describeEachDatabase } from '../../support/databases.js'
import { startChild } from '../../support/processes/children.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { CREDENTIALS, eventually, freshStorage, spoolIsEmpty, trackerAt, withDatabase } from '../../support/tracker.js'

/** More than the recorder keeps in memory, so that some batches are only on disk. */
const EVENTS = 30

describeEachDatabase('async_logging', (database) => {
  test('acknowledges errors while the database does not respond', { timeout: 60_000 }, async () => {
    const { storage, url, startFault, endFault } = await faultyDatabase(database, 'hang')
    const { tracker } = trackerAt(storage, { async_logging: true })
    await tracker.Commands.LogError.call({ error_type: 'Before', message: 'the fault' })
    await tracker.flush()
    await startFault()
    // Sequential, so that each error is a separate batch and acknowledged before the next.
    for (let i = 0; i < EVENTS; i++) {
      const logged = await tracker.Commands.LogError.call({ error_type: 'During', message: 'the fault' })
      expect(logged?.state).toBe('accepted')
    }
    // No acknowledgment waited for the database, because no write has failed yet.
    expect(await tracker.stats()).toMatchObject({ unavailable_since: null, buffered: 0, dropped: {} })
    if (database.dialect !== 'sqlite') expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1 })
    await endFault()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    await tracker.flush()
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop During': EVENTS })
  })

  test('acknowledges errors while the tables are locked', { timeout: 60_000 }, async () => {
    if (database.dialect === 'sqlite') return
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { async_logging: true })
    await tracker.ready()
    await withDatabase(storage.url, async ({ read }) => {
      await read.transaction().execute(async (other) => {
        if (database.dialect === 'postgres') await sql`lock table faultboard_batches`.execute(other)
        else await sql`lock tables faultboard_batches write`.execute(other)
        for (let i = 0; i < EVENTS; i++) {
          const logged = await tracker.Commands.LogError.call({ error_type: 'Locked', message: 'table' })
          expect(logged?.state).toBe('accepted')
        }
        expect((await tracker.stats()).unavailable_since).toBeNull()
        if (database.dialect === 'mysql') await sql`unlock tables`.execute(other)
      })
    })
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    await tracker.flush()
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Locked': EVENTS })
  })

  test('keeps acknowledged errors when the process is killed before the database responds', {
    timeout: 60_000,
  }, async () => {
    const { storage, url, startFault, endFault } = await faultyDatabase(database, 'hang')
    await startFault()
    const child = startChild('record', {
      settings: { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, async_logging: true },
      events: Array.from({ length: 5000 }, (_, i) => ({ error_type: 'Killed', message: 'x', user_id: `${i}` })),
      ...{ at_a_time: 1, acknowledge: true },
    })
    await eventually(() => child.lines.length > 20, 'errors were acknowledged')
    child.process.kill('SIGKILL')
    expect(await child.exited).toBe('SIGKILL')
    await endFault()
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    const { users } = await verifiedCounts(url)
    const settled = child.lines.filter((line) => line.startsWith('settled')).map((line) => line.split(' ')[1])
    expect(settled.length).toBeGreaterThan(5)
    for (const number of settled) expect(users[`Killed ${number}`]).toBe(1)
    expect(new Set(Object.values(users))).toEqual(new Set([1]))
  })
})

import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../../../src/store/kysely.js'
import { describeEachDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { freshTracker, trackerAt, withDatabase } from '../../support/tracker.js'

const REFUSED = 'RefusedByTheDatabase'

describeEachDatabase('a group that the database refuses', (database) => {
  for (const async_logging of [false, true]) {
    test(`a refused group does not affect other groups, with async_logging ${async_logging}`, async () => {
      const { tracker, url, spool_path, lines } = await freshTracker(database, { async_logging })
      await tracker.ready()
      await refuse(url)
      for (let round = 0; round < 2; round++) {
        const logged = await Promise.all(
          ['Good', REFUSED, 'Better', REFUSED, 'Good'].map((error_type) =>
            tracker.Commands.LogError.call({ error_type, message: 'together' }),
          ),
        )
        const refusedState = async_logging ? 'accepted' : undefined
        const goodState = async_logging ? 'accepted' : 'recorded'
        expect(logged.map((record) => record?.state)).toEqual([
          goodState,
          refusedState,
          goodState,
          refusedState,
          goodState,
        ])
        await tracker.flush()
      }
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Good': 4, 'shop Better': 2 })
      const { dropped, spool, unavailable_since } = await tracker.stats()
      expect(dropped.refused_by_database).toBe(4)
      expect(spool).toMatchObject({ files: 0, failed: 2 })
      expect(unavailable_since).toBeNull()
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain('.failed')

      // After the cause is fixed, renaming the file back imports it without a loss.
      await permit(url)
      await tracker.shutdown()
      for (const name of readdirSync(spool_path)) {
        expect(readFileSync(join(spool_path, name), 'utf8')).not.toContain('Good')
        renameSync(join(spool_path, name), join(spool_path, name.replace(/\.failed$/, '')))
      }
      const next = trackerAt({ url, spool_path })
      await next.tracker.ready()
      await next.tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Good': 4, 'shop Better': 2, [`shop ${REFUSED}`]: 4 })
    })
  }

  test('a refused group that repeats does not fill the spool folder', async () => {
    const { tracker, url } = await freshTracker(database, { spool_max_bytes: 20_000 })
    await tracker.ready()
    await refuse(url)
    for (let i = 0; i < 40; i++) {
      await tracker.Commands.LogError.call({ error_type: REFUSED, message: 'x'.repeat(500) })
    }
    const { dropped, spool } = await tracker.stats()
    expect(dropped.refused_by_database).toBe(40)
    expect(spool.bytes).toBeLessThan(15_000)
  })

  async function refuse(url: string): Promise<void> {
    await statement(url, {
      sqlite: `create trigger refuse before insert on faultboard_errors when new.error_type = '${REFUSED}' begin select raise(abort, 'refused'); end`,
      postgres: 'alter table faultboard_errors alter column error_type type varchar(12)',
      mysql: 'alter table faultboard_errors modify column error_type varchar(12) not null',
    })
  }

  async function permit(url: string): Promise<void> {
    await statement(url, {
      sqlite: 'drop trigger refuse',
      postgres: 'alter table faultboard_errors alter column error_type type varchar(255)',
      mysql: 'alter table faultboard_errors modify column error_type varchar(255) not null',
    })
  }

  async function statement(url: string, spelling: Record<typeof database.dialect, string>): Promise<void> {
    await withDatabase(url, ({ read }) => sql.raw(spelling[database.dialect]).execute(read))
  }
})

describeEachDatabase('recording with a damaged schema', (database) => {
  test('errors are spooled, not rejected, while the schema is damaged', async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.ready()
    await withDatabase(url, ({ read }) =>
      sql.raw('alter table faultboard_errors rename column platform to former_platform').execute(read),
    )
    const logged = await tracker.Commands.LogError.call({ error_type: 'Damaged', message: 'schema' })
    expect(logged?.state).toBe('spooled')
    expect((await tracker.stats()).spool).toMatchObject({ files: 1, failed: 0 })
  })
})

import { randomBytes } from 'node:crypto'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { perform } from '../../src/operation.js'
import { migrate } from '../../src/store/migrate.js'
import { errorsPage } from '../../src/triage/list/errors-list.js'
import { describeEachDatabase } from '../support/databases.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'
import { contextAt } from './list-context.js'

/** Simulates a build of SQLite without FTS5. */
class WithoutFts5 extends DatabaseSync {
  override prepare(text: string) {
    refuseFts5(text)
    return super.prepare(text)
  }

  override exec(text: string) {
    refuseFts5(text)
    return super.exec(text)
  }
}

function refuseFts5(text: string): void {
  if (/using fts5/i.test(text)) throw new Error('no such module: fts5')
}

describeEachDatabase(
  'search without an index',
  (database) => {
    test('finds the same errors after a migration', async () => {
      const url = await database.empty()
      const option = database.dialect === 'sqlite' ? openHandle(url) : await asUserWithoutRights(url)
      expect(await withDatabase(option, migrate)).toContain('0001-initial')
      const { context, log } = contextAt({ url, spool_path: temporaryFolder() }, { database: option })
      await context.ready()
      const { read, dialect } = context.database
      expect(await dialect.search.hasIndex(read)).toBe(false)
      const id = await log('Found', { message: 'The needle of 50%' })
      await log('Other', { message: 'Nothing' })
      for (const search of ['NEEDLE', '50%', 'ee', 'e of'])
        expect((await perform(errorsPage, context, { search })).errors.map((error) => error.id)).toEqual([id])
      expect((await perform(errorsPage, context, { search: 'need_e' })).errors).toEqual([])
    })
  },
  { except: ['mysql'] },
)

function openHandle(url: string): object {
  const handle = new WithoutFts5(url.slice('sqlite:'.length))
  onTestFinished(() => handle.close())
  return handle
}

/** URL of the same database for a user who may create tables but no extensions. */
async function asUserWithoutRights(url: string): Promise<string> {
  const name = `faultboard_test_${randomBytes(6).toString('hex')}`
  const role = sql.id(name)
  await withDatabase(url, async ({ read }) => {
    await sql`create role ${role} login password 'secret'`.execute(read)
    await sql`grant usage, create on schema public to ${role}`.execute(read)
  })
  onTestFinished(() =>
    withDatabase(url, async ({ read }) => {
      await sql`drop owned by ${role}`.execute(read)
      await sql`drop role ${role}`.execute(read)
    }),
  )
  const other = new URL(url)
  other.username = name
  other.password = 'secret'
  return other.href
}

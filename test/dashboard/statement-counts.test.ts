import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/store/migrate.js'
import { serveTracker } from '../support/host.js'
import { temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'

/** The list of applications. The query for names in a table of errors has no order. */
const APPLICATIONS = /^select "id", "name" from "faultboard_applications" order by /

test.each([
  ['a page of all applications', '/errors', 200],
  ['a page of one application', '/errors?application_id=1', 200],
  ['the page of an unknown application', '/errors?application_id=999', 404],
  ['an error page', '/errors/1?application_id=1', 200],
])('queries the applications once for %s', async (_name, path, status) => {
  const { host, statements } = await hostWithStatements()
  const response = await host.get(path)
  expect(response.status).toBe(status)
  // The switcher shows the result.
  expect(await response.text()).toContain('warehouse')
  expect(statements.filter((sql) => APPLICATIONS.test(sql))).toHaveLength(1)
})

test('does not query the applications for the JSON of all applications', async () => {
  const { host, statements } = await hostWithStatements()
  expect(await host.json('/errors')).toMatchObject({ status: 200, pagination: { total_count: 2 } })
  expect(statements).not.toEqual([])
  expect(statements.filter((sql) => APPLICATIONS.test(sql))).toEqual([])
})

/** A host with two applications. `statements` contains the text of every statement run from then on. */
async function hostWithStatements() {
  // A file would be read through connections of the tracker itself.
  const handle = new DatabaseSync(':memory:')
  onTestFinished(() => handle.close())
  const statements: string[] = []
  // The driver methods are not writable.
  const replace = (target: object, name: string, value: unknown) => Object.defineProperty(target, name, { value })
  const prepare = handle.prepare.bind(handle)
  replace(handle, 'prepare', (sql: string) => {
    const statement = prepare(sql)
    for (const name of ['all', 'get', 'run'] as const) {
      const execute = statement[name].bind(statement)
      replace(statement, name, (...values: Parameters<typeof execute>) => {
        statements.push(sql)
        return execute(...values)
      })
    }
    return statement
  })
  await withDatabase(handle, migrate)
  const spool_path = temporaryFolder()
  const { tracker } = trackerAt({ url: '', spool_path }, { database: handle, application_name: 'warehouse' })
  await tracker.Commands.LogError.call({ error_type: 'E', message: 'in the warehouse' })
  await tracker.shutdown()
  const host = await serveTracker({ database: handle, spool_path })
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'in the shop' })
  statements.length = 0
  return { host, statements }
}

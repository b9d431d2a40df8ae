import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import {
  CREDENTIALS,
  eventually,
  freshStorage,
  spoolIsEmpty,
  type TrackerStorage,
  temporaryFolder,
  trackerAt,
} from '../support/tracker.js'

describeEachDatabase(
  'a process that logs an error and waits for nothing but a timer',
  (database) => {
    test('reports a logged error immediately instead of with the next event', async () => {
      const storage = await freshStorage(database)
      const { status, stdout } = run('log-and-idle', storage)
      expect([status, stdout]).toEqual([0, 'true'])
    })
  },
  { except: ['postgres', 'mysql'] },
)

describeEachDatabase(
  'a process that logs an error and exits at once',
  (database) => {
    test('leaves the error for the next process and keeps the exit code', async () => {
      const storage = await freshStorage(database)
      expect(run('log-and-exit', storage)).toMatchObject({ status: 3, stderr: '' })
      const { tracker } = trackerAt(storage)
      await tracker.ready()
      await eventually(() => spoolIsEmpty(tracker), 'the spool folder is imported')
      const errors = await tracker.Queries.ErrorsList.call()
      expect(errors.map(({ message, occurrence_count }) => [message, occurrence_count]).sort()).toEqual([
        ['logged by pino', 1],
        ['logged by winston', 1],
      ])
    })
  },
  { except: ['postgres', 'mysql'] },
)

function run(name: string, { url, spool_path }: TrackerStorage) {
  const orders = join(temporaryFolder(), 'orders.json')
  writeFileSync(orders, JSON.stringify({ database: url, spool_path, ...CREDENTIALS }))
  const program = fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url))
  return spawnSync(process.execPath, [program, orders], { encoding: 'utf8' })
}

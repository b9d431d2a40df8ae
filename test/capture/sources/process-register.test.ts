import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { freshStorage, type TrackerStorage, temporaryFolder, trackerAt } from '../../support/tracker.js'

const REGISTER_URL = new URL('../../../dist/register.js', import.meta.url).href
const APP_FILE = fileURLToPath(new URL('../fixtures/registered-app.mjs', import.meta.url))

describeEachDatabase(
  'faultboard/register',
  (database) => {
    test('records an error thrown on the first line of the application', async () => {
      const storage = await freshStorage(database)
      expect(await run(['throw'], environment(storage))).toMatchObject({ code: 1 })
      expect(await storedCounts(storage)).toEqual({ 'shop RangeError': 1 })
    })

    test('starts in worker threads and records their errors once', async () => {
      const storage = await freshStorage(database)
      expect(await run(['thread'], environment(storage))).toMatchObject({ code: 0 })
      expect(await storedCounts(storage)).toEqual({ 'shop RangeError': 1 })
    })

    test('lets the application configure the tracker afterwards', async () => {
      const [storage, other] = [await freshStorage(database), await freshStorage(database)]
      expect(await run(['configure', other.url.slice('sqlite:'.length)], environment(storage))).toMatchObject({
        code: 1,
      })
      expect(await storedCounts({ ...other, spool_path: storage.spool_path })).toEqual({ 'configured RangeError': 1 })
      expect((await verifiedCounts(storage.url)).counts).toEqual({})
    })

    test('records an error thrown right after configure', async () => {
      const storage = await freshStorage(database)
      expect(await run(['configure_and_throw'], environment(storage))).toMatchObject({ code: 1 })
      expect(Object.values(await storedCounts(storage))).toEqual([1])
    })

    test('freezes the configuration only in Tracker.start', async () => {
      const storage = await freshStorage(database)
      expect(await run(['freeze'], environment(storage))).toMatchObject({ code: 0, stdout: 'ConfigurationError\n' })
    })

    test('logs one line and stays off if a variable is invalid', async () => {
      const { code, stdout, stderr } = await run(['nothing'], {
        FAULTBOARD_DATABASE: (await missingDatabase(database)).url,
        FAULTBOARD_SAMPLING_RATE: 'often',
      })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'runs\n' })
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringMatching(/^\[faultboard\] .*did not start.*sampling_rate/),
      ])
    })
  },
  { except: ['postgres', 'mysql'] },
)

async function missingDatabase(_database: TestDatabase): Promise<{ url: string }> {
  return { url: `sqlite:${join(temporaryFolder(), 'never.sqlite3')}` }
}

function environment({ url, spool_path }: TrackerStorage): Record<string, string> {
  return {
    FAULTBOARD_DATABASE: url,
    FAULTBOARD_SPOOL_PATH: spool_path,
    FAULTBOARD_APPLICATION_NAME: 'shop',
    FAULTBOARD_DASHBOARD_USERNAME: 'admin',
    FAULTBOARD_DASHBOARD_PASSWORD: 'correct horse',
  }
}

async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', REGISTER_URL, APP_FILE, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

async function storedCounts(storage: TrackerStorage): Promise<Record<string, number>> {
  const { tracker } = trackerAt(storage)
  await tracker.ready()
  await tracker.flush()
  return (await verifiedCounts(storage.url)).counts
}

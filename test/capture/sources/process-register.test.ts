import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { verifiedCounts } from '../../support/books.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { freshPlace, type TrackerPlace, temporaryFolder, trackerAt } from '../../support/tracker.js'

const register = new URL('../../../dist/register.js', import.meta.url).href
const app = fileURLToPath(new URL('../fixtures/registered-app.mjs', import.meta.url))

describeEachDatabase(
  'faultboard/register',
  (database) => {
    test('records an error thrown at the first line of the application', async () => {
      const place = await freshPlace(database)
      expect(await run(['throw'], variables(place))).toMatchObject({ code: 1 })
      expect(await countsAt(place)).toEqual({ 'shop RangeError': 1 })
    })

    test('starts in the threads too, and records their errors once', async () => {
      const place = await freshPlace(database)
      expect(await run(['thread'], variables(place))).toMatchObject({ code: 0 })
      expect(await countsAt(place)).toEqual({ 'shop RangeError': 1 })
    })

    test('lets the application configure it afterwards', async () => {
      const [place, other] = [await freshPlace(database), await freshPlace(database)]
      expect(await run(['configure', other.url.slice('sqlite:'.length)], variables(place))).toMatchObject({ code: 1 })
      expect(await countsAt({ ...other, spool_path: place.spool_path })).toEqual({ 'configured RangeError': 1 })
      expect((await verifiedCounts(place.url)).counts).toEqual({})
    })

    test('does not leave the application alone in between', async () => {
      const place = await freshPlace(database)
      expect(await run(['configure_and_throw'], variables(place))).toMatchObject({ code: 1 })
      expect(Object.values(await countsAt(place))).toEqual([1])
    })

    test('leaves it to Tracker.start to freeze the configuration', async () => {
      const place = await freshPlace(database)
      expect(await run(['freeze'], variables(place))).toMatchObject({ code: 0, stdout: 'ConfigurationError\n' })
    })

    test('logs one line and stays off without credentials', async () => {
      const { code, stdout, stderr } = await run(['nothing'], { FAULTBOARD_DATABASE: (await newFile(database)).url })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'runs\n' })
      expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/^\[faultboard\] .*did not start.*username/)])
    })
  },
  { except: ['postgres', 'mysql'] },
)

async function newFile(_database: TestDatabase): Promise<{ url: string }> {
  return { url: `sqlite:${join(temporaryFolder(), 'never.sqlite3')}` }
}

function variables({ url, spool_path }: TrackerPlace): Record<string, string> {
  return {
    FAULTBOARD_DATABASE: url,
    FAULTBOARD_SPOOL_PATH: spool_path,
    FAULTBOARD_APPLICATION_NAME: 'shop',
    FAULTBOARD_DASHBOARD_USERNAME: 'admin',
    FAULTBOARD_DASHBOARD_PASSWORD: 'correct horse',
  }
}

async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', register, app, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

async function countsAt(place: TrackerPlace): Promise<Record<string, number>> {
  const { tracker } = trackerAt(place)
  await tracker.ready()
  await tracker.flush()
  return (await verifiedCounts(place.url)).counts
}

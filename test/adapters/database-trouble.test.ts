import { closeSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { startProxy } from '../support/databases/proxy.js'
import { describeEachDatabase } from '../support/databases.js'
import { listening } from '../support/host.js'
import { eventually, freshPlace, spoolIsEmpty, temporaryFolder, trackerAt } from '../support/tracker.js'

const ROUNDS = 6
const AT_ONCE = 50

describeEachDatabase(
  'a host under load, while its tracker’s database server',
  (database) => {
    test.each(['refuses', 'says nothing'] as const)(
      '%s, answers as it did before, and no error is lost or doubled',
      { timeout: 120_000 },
      async (trouble) => {
        const place = await freshPlace(database)
        const proxy = await startProxy(place.url)
        const { tracker } = trackerAt({ ...place, url: proxy.url })
        await tracker.ready()
        const load = await loaded(tracker)
        const before = await load()
        if (trouble === 'refuses') await proxy.refuse()
        else proxy.hang()
        expect(await load()).toEqual(before)
        expect(await load()).toEqual(before)
        await proxy.open()
        expect(await load()).toEqual(before)
        await eventually(async () => {
          await tracker.flush()
          return (await spoolIsEmpty(tracker)) && (await total(tracker)) >= 4 * ROUNDS * AT_ONCE
        }, 'all errors are in the database')
        expect(await total(tracker)).toBe(4 * ROUNDS * AT_ONCE)
      },
    )
  },
  { except: ['sqlite'] },
)

test('a host under load answers as before while the file of its tracker is overwritten with garbage', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'errors.sqlite3')
  const { tracker } = trackerAt({ url: `sqlite:${file}`, spool_path: join(folder, 'spool') })
  await tracker.ready()
  const load = await loaded(tracker)
  const before = await load()
  for (const part of [file, `${file}-wal`]) {
    const handle = openSync(part, 'r+')
    writeSync(handle, Buffer.alloc(2_000_000, 0x5a), 0, 2_000_000, 0)
    closeSync(handle)
  }
  expect(await load()).toEqual(before)
  expect(await load()).toEqual(before)
  await tracker.flush()
  // SQLite works on from what it holds in memory; whoever starts on such a file has nothing but the file.
  const next = trackerAt({ url: `sqlite:${file}`, spool_path: join(folder, 'spool') })
  expect(await (await loaded(next.tracker))()).toEqual(before)
  await next.tracker.flush()
  expect(next.lines.join('')).toMatch(/malformed|not a database/i)
  expect((await next.tracker.stats()).spool.files).toBeGreaterThan(0)
})

async function total(tracker: TrackerInstance): Promise<number> {
  const errors = await tracker.Queries.ErrorsList.call()
  return errors.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
}

/** A host that fails in several ways, and a function that gives all its answers to a burst of requests. */
async function loaded(tracker: TrackerInstance): Promise<() => Promise<Record<string, number>>> {
  const app = express()
    .use(dashboard(tracker))
    .get('/ok', (_request, response) => void response.send('ok'))
    .get('/sync', () => {
      throw new Error('broken at once')
    })
    .get('/async', async () => {
      await null
      throw new Error('broken later')
    })
    .use(capture(tracker))
    .use(((error, _request, response, _next) => {
      response.status(503).send(`host says: ${error.message}`)
    }) satisfies express.ErrorRequestHandler)
  const server = createServer(app)
  const origin = await listening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return async () => {
    const answers: Record<string, number> = {}
    for (let round = 0; round < ROUNDS; round++) {
      const paths = Array.from({ length: AT_ONCE }, (_, i) => (i % 2 === 0 ? '/sync' : '/async'))
      await Promise.all(
        [...paths, '/ok', '/ok'].map(async (path) => {
          const response = await fetch(`${origin}${path}`)
          const answer = `${path} ${response.status} ${await response.text()}`
          answers[answer] = (answers[answer] ?? 0) + 1
        }),
      )
    }
    return answers
  }
}

import { closeSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { startProxy } from '../support/databases/proxy.js'
import { describeEachDatabase } from '../support/databases.js'
import { startListening } from '../support/host.js'
import { eventually, freshStorage, spoolIsEmpty, temporaryFolder, trackerAt } from '../support/tracker.js'

const ROUNDS = 2
const REQUESTS_PER_ROUND = 50

describeEachDatabase(
  'host under load',
  (database) => {
    test.each(['refuses connections', 'hangs'] as const)(
      'responds as before and records every error once while the database server %s',
      { timeout: 120_000 },
      async (failure) => {
        const storage = await freshStorage(database)
        const proxy = await startProxy(storage.url)
        const { tracker } = trackerAt({ ...storage, url: proxy.url })
        await tracker.ready()
        const sendBurst = await startHost(tracker)
        const baseline = await sendBurst()
        if (failure === 'refuses connections') await proxy.refuse()
        else proxy.hang()
        expect(await sendBurst()).toEqual(baseline)
        expect(await sendBurst()).toEqual(baseline)
        await proxy.open()
        expect(await sendBurst()).toEqual(baseline)
        await eventually(async () => {
          await tracker.flush()
          return (await spoolIsEmpty(tracker)) && (await totalOccurrences(tracker)) >= 4 * ROUNDS * REQUESTS_PER_ROUND
        }, 'all errors are in the database')
        expect(await totalOccurrences(tracker)).toBe(4 * ROUNDS * REQUESTS_PER_ROUND)
      },
    )
  },
  { except: ['sqlite'] },
)

test('a host under load responds as before while its SQLite file is overwritten with garbage', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'errors.sqlite3')
  const { tracker } = trackerAt({ url: `sqlite:${file}`, spool_path: join(folder, 'spool') })
  await tracker.ready()
  const sendBurst = await startHost(tracker)
  const baseline = await sendBurst()
  for (const part of [file, `${file}-wal`]) {
    const handle = openSync(part, 'r+')
    writeSync(handle, Buffer.alloc(2_000_000, 0x5a), 0, 2_000_000, 0)
    closeSync(handle)
  }
  expect(await sendBurst()).toEqual(baseline)
  expect(await sendBurst()).toEqual(baseline)
  await tracker.flush()
  // SQLite continues with its page cache; a new process has only the file.
  const restarted = trackerAt({ url: `sqlite:${file}`, spool_path: join(folder, 'spool') })
  expect(await (await startHost(restarted.tracker))()).toEqual(baseline)
  await restarted.tracker.flush()
  expect(restarted.lines.join('')).toMatch(/malformed|not a database/i)
  expect((await restarted.tracker.stats()).spool.files).toBeGreaterThan(0)
})

async function totalOccurrences(tracker: TrackerInstance): Promise<number> {
  const errors = await tracker.Queries.ErrorsList.call()
  return errors.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
}

/** Starts a host whose routes throw, and returns a function that sends a burst of requests and counts the responses. */
async function startHost(tracker: TrackerInstance): Promise<() => Promise<Record<string, number>>> {
  const app = express()
    .use(dashboard(tracker))
    .get('/ok', (_request, response) => void response.send('ok'))
    .get('/sync', () => {
      throw new Error('thrown')
    })
    .get('/async', async () => {
      await null
      throw new Error('rejected')
    })
    .use(capture(tracker))
    .use(((error, _request, response, _next) => {
      response.status(503).send(`host error: ${error.message}`)
    }) satisfies express.ErrorRequestHandler)
  const server = createServer(app)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return async () => {
    const responses: Record<string, number> = {}
    for (let round = 0; round < ROUNDS; round++) {
      const paths = Array.from({ length: REQUESTS_PER_ROUND }, (_, i) => (i % 2 === 0 ? '/sync' : '/async'))
      await Promise.all(
        [...paths, '/ok', '/ok'].map(async (path) => {
          const response = await fetch(`${origin}${path}`)
          const key = `${path} ${response.status} ${await response.text()}`
          responses[key] = (responses[key] ?? 0) + 1
        }),
      )
    }
    return responses
  }
}

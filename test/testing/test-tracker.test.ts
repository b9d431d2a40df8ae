import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { capture } from '../../src/adapters/express.js'
import { createTestTracker, recordedErrors } from '../../src/testing/test-tracker.js'
import { temporaryFolder } from '../support/tracker.js'

test('returns the recorded errors of an application in order, with their newest occurrence', async () => {
  const tracker = createTestTracker()
  onTestFinished(() => tracker.shutdown())
  expect(await recordedErrors(tracker)).toEqual([])
  const app = express().get('/orders/:id', () => {
    throw new TypeError('cart is empty')
  })
  app.use(capture(tracker))
  app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => response.sendStatus(500))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  for (const id of [7, 8]) await fetch(`http://127.0.0.1:${port}/orders/${id}`)
  void tracker.report(new Error('later'), { tags: { job: 'nightly' } })
  expect(await recordedErrors(tracker)).toMatchObject([
    {
      error_type: 'TypeError',
      message: 'cart is empty',
      occurrence_count: 2,
      request_url: expect.stringMatching(/8$/),
    },
    { error_type: 'Error', message: 'later', tags: { job: 'nightly' } },
  ])
})

test('writes nothing to the folder of the application', async () => {
  const project_root = temporaryFolder()
  const tracker = createTestTracker({ project_root })
  await tracker.report(new Error('x'))
  expect(await recordedErrors(tracker)).toHaveLength(1)
  await tracker.shutdown()
  expect(readdirSync(project_root)).toEqual([])
})

test('a test run does not import errors that an earlier test run left behind', async () => {
  const script = `import { Tracker } from '${pathToFileURL(resolve('dist/index.js')).href}'
    import { recordedErrors } from '${pathToFileURL(resolve('dist/testing/testing.js')).href}'
    Tracker.start()
    if (process.argv[2] === 'crash') setImmediate(() => { throw new Error('crash of the first test run') })
    else {
      await Tracker.report(new Error('error of the second test run'))
      console.log((await recordedErrors()).map(({ message }) => message).join())
      await Tracker.shutdown()
    }`
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'run.mjs'), script)
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'shop-of-two-test-runs' }))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['run.mjs', ...args], {
      ...{ cwd, env: { ...process.env, JEST_WORKER_ID: '1' }, encoding: 'utf8', timeout: 25_000 },
    })
  expect(run('crash').status).toBe(1)
  expect(run().stdout).toBe('error of the second test run\n')
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { createTracker } from '../../dist/index.js'
import { sentryIntake } from '../../dist/reporting/sentry/intake.js'
import { receiveTask } from '../harness/child.mjs'

/** Runs an Express host with the Sentry intake until the parent process disconnects. */
const { key } = await receiveTask()
const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
const tracker = createTracker({
  database: `sqlite:${join(folder, 'errors.sqlite3')}`,
  application_name: 'bench',
  dashboard_username: 'bench',
  dashboard_password: 'bench',
})
const app = express()
app.get('/ping', (_request, response) => response.send('pong'))
app.use('/sentry', sentryIntake({ tracker, keys: [key] }).express)
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.once('disconnect', async () => {
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
  rmSync(folder, { recursive: true, force: true })
})

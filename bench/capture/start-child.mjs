// Imports and configures one subject in a new process. Reports milliseconds and memory growth.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { receiveTask, sendResult } from '../harness/child.mjs'

const STARTS = {
  async ours(folder) {
    const { Tracker } = await import('../../dist/index.js')
    Tracker.configure({
      database: `sqlite:${join(folder, 'errors.sqlite3')}`,
      dashboard_username: 'bench',
      dashboard_password: 'bench-password',
    }).start()
    return Tracker
  },
  async '@sentry/node'() {
    const Sentry = await import('@sentry/node')
    Sentry.init({ dsn: 'https://public@127.0.0.1/1' })
  },
  async pino() {
    const { default: createLogger } = await import('pino')
    createLogger({ level: 'error' })
  },
}

const { subject } = await receiveTask()
const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
const memory = process.memoryUsage.rss()
const started = performance.now()
const tracker = await STARTS[subject](folder)
const configured = { ms: performance.now() - started, bytes: process.memoryUsage.rss() - memory }
await tracker?.ready()
const ready = { ms: performance.now() - started, bytes: process.memoryUsage.rss() - memory }
await tracker?.shutdown()
rmSync(folder, { recursive: true, force: true })
sendResult({ configured, ready })
setTimeout(() => process.exit(), 100).unref()

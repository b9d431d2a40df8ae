import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { lowerBound } from './lower-bound.mjs'

/**
 * Error trackers to compare. `capture` accepts an error without waiting. `drain` resolves when all captured errors are
 * processed. `drain_counts` is true if draining is part of handling an error (a peer that processes it later), and
 * false if it is database work, which the suite `write` measures.
 */
export const SUBJECTS = {
  bare: async () => ({
    capture: (error) => createHash('sha256').update(error.stack).digest('hex'),
    drain: async () => {},
    close: async () => {},
    drain_counts: true,
  }),
  'lower bound': lowerBound,
  'ours, sync': () => faultboard(false),
  'ours, async': () => faultboard(true),
  '@sentry/node': sentry,
  pino,
}

async function faultboard(async_logging) {
  const { createTracker } = await import('../../dist/index.js')
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  const tracker = createTracker({
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    dashboard_username: 'bench',
    dashboard_password: 'bench-password',
    async_logging,
  })
  await tracker.ready()
  const pending = []
  return {
    capture: (error, details) => pending.push(tracker.Commands.LogError.call({ exception: error, ...details })),
    async drain() {
      await Promise.all(pending.splice(0))
      await tracker.flush()
    },
    async close() {
      await tracker.shutdown()
      rmSync(folder, { recursive: true, force: true })
    },
    drain_counts: false,
  }
}

async function sentry() {
  const Sentry = await import('@sentry/node')
  const counts = { captured: 0, sent: 0 }
  const send = async () => {
    counts.sent++
    return { statusCode: 200 }
  }
  Sentry.init({
    dsn: 'https://public@127.0.0.1/1',
    transport: (options) => Sentry.createTransport(options, send),
    // Disables deduplication, because the other subjects record repeats.
    integrations: (defaults) => defaults.filter(({ name }) => name !== 'Dedupe'),
  })
  return {
    capture(error, details) {
      counts.captured++
      Sentry.captureException(
        error,
        details && {
          user: { id: details.user_id, ip_address: details.ip_address },
          extra: { request_url: details.request_url, request_params: details.request_params },
        },
      )
    },
    // Sentry.flush polls every millisecond, which would add to the time. Dropped errors are never sent.
    async drain() {
      for (let idleTurns = 0, sent = counts.sent; sent < counts.captured && idleTurns < 1000; idleTurns++) {
        await turn()
        if (counts.sent > sent) idleTurns = 0
        sent = counts.sent
      }
      counts.captured = counts.sent
    },
    close: () => Sentry.close(1000),
    drain_counts: true,
  }
}

async function pino() {
  const { default: createLogger } = await import('pino')
  const discardStream = new Writable({ write: (_chunk, _encoding, done) => done() })
  const logger = createLogger(discardStream)
  return {
    capture: (error, details) => logger.error({ err: error, ...details }, error.message),
    drain: async () => {},
    close: async () => {},
    drain_counts: true,
  }
}

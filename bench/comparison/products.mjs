import { mkdtempSync, rmSync } from 'node:fs'
import { globalAgent } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'

const require = createRequire(import.meta.url)

/**
 * Each function loads and configures a product with its usual setup. Errors go to a receiver on loopback or to a
 * temporary SQLite file. `capture` resolves when an error is sent or stored. `mount` adds the product to an Express
 * application, before (`prepare`) or after (`finish`) the routes.
 */
export const PRODUCTS = {
  Faultboard: async () => {
    const { createTracker } = await import('../../dist/index.js')
    const { capture, dashboard } = await import('../../dist/adapters/express.js')
    const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
    const tracker = createTracker({
      database: `sqlite:${join(folder, 'errors.sqlite3')}`,
      dashboard_username: 'bench',
      dashboard_password: 'bench-password',
    }).start()
    return {
      capture: (error) => tracker.Commands.LogError.call({ exception: error }),
      mount: { prepare: (app) => app.use(dashboard(tracker)), finish: (app) => app.use(capture(tracker)) },
      async close() {
        await tracker.shutdown()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },

  '@sentry/node': async (port) => {
    const Sentry = await import('@sentry/node')
    Sentry.init({
      dsn: `http://public@127.0.0.1:${port}/1`,
      // Disables deduplication, because the other products record repeats.
      integrations: (defaults) => defaults.filter(({ name }) => name !== 'Dedupe'),
    })
    return {
      async capture(error) {
        Sentry.captureException(error)
        await Sentry.flush()
      },
      mount: { finish: (app) => Sentry.setupExpressErrorHandler(app) },
      close: () => Sentry.close(1000),
    }
  },

  pino: async () => {
    const { default: createLogger } = await import('pino')
    const discardStream = new Writable({ write: (_chunk, _encoding, done) => done() })
    const logger = createLogger(discardStream)
    return { capture: async (error) => logger.error(error), mount: {}, close: async () => {} }
  },

  Errsole: async () => {
    const errsole = require('errsole')
    const ErrsoleSQLite = require('errsole-sqlite')
    const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
    const storage = new ErrsoleSQLite(join(folder, 'logs.sqlite'))
    // Errsole prints a banner at start.
    console.log = () => {}
    errsole.initialize({ storage, port: await freePort(), enableConsoleOutput: false })
    return {
      capture: async (error) => errsole.error(error),
      mount: {},
      async close() {
        await storage.flushLogs?.()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },

  Honeybadger: async (port) => {
    const Honeybadger = require('@honeybadger-io/js')
    // The transport of Honeybadger ignores the port of the endpoint.
    globalAgent.defaultPort = port
    Honeybadger.configure({
      apiKey: 'bench',
      endpoint: 'http://127.0.0.1',
      environment: 'production',
      logger: SILENT_LOGGER,
    })
    return {
      capture: (error) => Honeybadger.notifyAsync(error),
      mount: {
        prepare: (app) => app.use(Honeybadger.requestHandler),
        finish: (app) => app.use(Honeybadger.errorHandler),
      },
      close: async () => {},
    }
  },

  Bugsnag: async (port) => {
    const Bugsnag = require('@bugsnag/node')
    const express = require('@bugsnag/plugin-express')
    const url = `http://127.0.0.1:${port}`
    Bugsnag.start({
      apiKey: '0123456789abcdef0123456789abcdef',
      endpoints: { notify: url, sessions: url },
      plugins: [express],
      logger: null,
    })
    const { requestHandler, errorHandler } = Bugsnag.getPlugin('express')
    return {
      capture: (error) =>
        new Promise((resolve, reject) =>
          Bugsnag.notify(error, undefined, (failure) => (failure ? reject(failure) : resolve())),
        ),
      mount: { prepare: (app) => app.use(requestHandler), finish: (app) => app.use(errorHandler) },
      close: async () => {},
    }
  },

  Rollbar: async (port) => {
    const Rollbar = require('rollbar')
    const rollbar = new Rollbar({
      accessToken: 'bench',
      endpoint: `http://127.0.0.1:${port}/`,
      itemsPerMinute: Number.MAX_SAFE_INTEGER,
      // Disables deduplication, because the other products record repeats.
      ignoreDuplicateErrors: false,
    })
    return {
      capture: (error) =>
        new Promise((resolve, reject) => rollbar.error(error, (failure) => (failure ? reject(failure) : resolve()))),
      mount: { finish: (app) => app.use(rollbar.errorHandler()) },
      close: async () => {},
    }
  },
}

const SILENT_LOGGER = Object.fromEntries(
  ['log', 'info', 'debug', 'warn', 'error', 'trace'].map((name) => [name, () => {}]),
)

async function freePort() {
  const { createServer } = await import('node:net')
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

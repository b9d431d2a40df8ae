import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Subjects that observe thrown errors. Each returns a function that stops observing. */
export async function startSubject(name) {
  if (name === 'bare') return () => {}
  if (name === '@sentry/node') return sentry()
  const mode = name.replace('ours, ', '')
  return faultboard(mode === 'off' ? {} : { enable_local_variables: true, local_variable_mode: mode })
}

/** Uses the highest limits, because the cost of a single error is measured. */
export async function startTracker(settings) {
  const { createTracker } = await import('../../dist/index.js')
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  const tracker = createTracker({
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    dashboard_username: 'bench',
    dashboard_password: 'bench-password',
    local_variable_max_per_second: 1000,
    local_variable_max_pause_ms_per_second: 1000,
    ...settings,
  })
  await tracker.ready()
  return {
    tracker,
    async stop() {
      await tracker.shutdown()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function faultboard(settings) {
  return (await startTracker(settings)).stop
}

async function sentry() {
  const Sentry = await import('@sentry/node')
  Sentry.init({
    dsn: 'https://public@127.0.0.1/1',
    transport: (options) => Sentry.createTransport(options, async () => ({ statusCode: 200 })),
    integrations: [Sentry.localVariablesIntegration({ captureAllExceptions: true, maxExceptionsPerSecond: 1000 })],
    includeLocalVariables: true,
  })
  // Waits for the worker to start.
  await new Promise((started) => setTimeout(started, 2000))
  return () => Sentry.close(500)
}

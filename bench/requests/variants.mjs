import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BREADCRUMBS = 10

/** Parts of a host by variant. A lower bound does only the unavoidable part of a configuration, without the tracker. */
export const VARIANTS = {
  bare: () => ({}),
  bare_alone: () => ({}),
  bare_again: () => ({}),
  ours: (framework) => trackedHost(framework),
  ours_bound: (framework) => hookedHost(framework, (next) => next()),
  scoped: (framework) => trackedHost(framework, { request_scope: 'always' }),
  scoped_bound: (framework) => scopedHost(framework, () => {}),
  breadcrumbs: (framework) => trackedHost(framework, { enable_breadcrumbs: true }, addBreadcrumbs),
  breadcrumbs_bound: (framework) => scopedHost(framework, appendObjects),
  sentry: sentryHost,
}

async function trackedHost(framework, settings = {}, work = () => {}) {
  const { createTracker } = await import('../../dist/index.js')
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const tracker = createTracker({
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    dashboard_username: 'bench',
    dashboard_password: 'bench-password',
    ...settings,
  })
  await tracker.ready()
  return { ...(await mountTracker(framework, tracker)), work: async () => work(tracker) }
}

async function mountTracker(framework, tracker) {
  if (framework === 'fastify') {
    const { faultboard } = await import('../../dist/adapters/fastify.js')
    return { prepare: (app) => app.register(faultboard, { tracker }) }
  }
  const { capture, dashboard } = await import('../../dist/adapters/express.js')
  return { prepare: (app) => app.use(dashboard(tracker)), finish: (app) => app.use(capture(tracker)) }
}

function addBreadcrumbs(tracker) {
  for (let i = 0; i < BREADCRUMBS; i++) tracker.addBreadcrumb({ category: 'step', message: 'something happened' })
}

/** Host with a middleware or hook. */
function hookedHost(framework, run) {
  return {
    prepare(app) {
      if (framework === 'fastify') app.addHook('onRequest', (_request, _reply, next) => run(next))
      else app.use((_request, _response, next) => run(next))
    },
  }
}

/** Host that runs the request in an AsyncLocalStorage. */
function scopedHost(framework, work) {
  const storage = new AsyncLocalStorage()
  const hook = hookedHost(framework, (next) => storage.run({ trail: null }, next))
  return { ...hook, work: async () => work(storage) }
}

function appendObjects(storage) {
  for (let i = 0; i < BREADCRUMBS; i++) {
    const scope = storage.getStore()
    scope.trail ??= []
    scope.trail.push({ occurred_at: Date.now(), category: 'step', message: 'something happened' })
  }
}

async function sentryHost(framework) {
  const Sentry = await import('@sentry/node')
  Sentry.init({
    dsn: 'https://public@127.0.0.1/1',
    transport: (options) => Sentry.createTransport(options, async () => ({ statusCode: 200 })),
  })
  if (framework === 'fastify') return { prepare: (app) => Sentry.setupFastifyErrorHandler(app) }
  return { finish: (app) => Sentry.setupExpressErrorHandler(app) }
}

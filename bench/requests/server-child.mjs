// Runs several hosts in one process: bare, and with each configuration of the tracker.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTracker } from '../../dist/index.js'
import { receiveTask, sendResult } from '../harness/child.mjs'
import { HOSTS } from './hosts.mjs'
import { startLoad } from './load.mjs'
import { lowerBoundHosts } from './lower-bounds.mjs'

const { framework, slices, requests } = await receiveTask()
const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-'))
const load = startLoad()

const WARM_REQUESTS = 1000
const BREADCRUMBS = 10
const addBreadcrumbs = (tracker) => async () => {
  for (let i = 0; i < BREADCRUMBS; i++) tracker.addBreadcrumb({ category: 'step', message: 'something happened' })
}

/**
 * Creates a host for every slice. One of two equal hosts in a process can be 10% slower for its whole lifetime, so a
 * comparison needs many of each.
 */
const VARIANTS = {
  bare: () => host({}),
  bare_again: () => host({}),
  ours: () => withTracker({}),
  scoped: () => withTracker({ request_scope: 'always' }),
  breadcrumbs: () => withTracker({ enable_breadcrumbs: true }, addBreadcrumbs),
  ...boundVariants(),
}

const results = Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, []]))
for (let slice = -1; slice < slices; slice++) {
  for (const name of rotateNames(Object.keys(VARIANTS), slice)) {
    const { server, close } = await VARIANTS[name]()
    // Warms up, because the first requests compile the code.
    await load.micros(server, WARM_REQUESTS)
    const micros = await load.micros(server, requests)
    if (slice >= 0) results[name].push(micros)
    await close()
  }
}
load.stop()
rmSync(folder, { recursive: true, force: true })
sendResult(results)

/** Lower bounds without the tracker: `scoped_bound` and `breadcrumbs_bound`. */
function boundVariants() {
  const hosts = Object.entries(lowerBoundHosts(framework, host, BREADCRUMBS))
  return Object.fromEntries(hosts.map(([name, start]) => [`${name}_bound`, start]))
}

async function withTracker(settings, work = () => undefined) {
  const tracker = createTracker({
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    dashboard_username: 'bench',
    dashboard_password: 'bench-password',
    ...settings,
  })
  await tracker.ready()
  const running = await host({ ...(await mountTracker(tracker)), work: work(tracker) })
  return {
    server: running.server,
    async close() {
      await running.close()
      await tracker.shutdown()
    },
  }
}

async function mountTracker(tracker) {
  if (framework === 'fastify') {
    const { faultboard } = await import('../../dist/adapters/fastify.js')
    return { prepare: (app) => app.register(faultboard, { tracker }) }
  }
  const { capture, dashboard } = await import('../../dist/adapters/express.js')
  return { prepare: (app) => app.use(dashboard(tracker)), finish: (app) => app.use(capture(tracker)) }
}

async function host(parts) {
  const server = await HOSTS[framework](parts)
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

function rotateNames(names, slice) {
  const start = ((slice % names.length) + names.length) % names.length
  return [...names.slice(start), ...names.slice(0, start)]
}

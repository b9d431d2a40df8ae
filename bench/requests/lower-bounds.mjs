import { AsyncLocalStorage } from 'node:async_hooks'

/** Adds a function that runs every handler. */
const ADD_HOOK = {
  express: (app, run) => app.use((_request, _response, next) => run(next)),
  fastify: (app, run) => app.addHook('onRequest', (_request, _reply, next) => run(next)),
}

/**
 * Hosts that do only the unavoidable part of a configuration: `scoped` runs the request in an AsyncLocalStorage, and
 * `breadcrumbs` also appends objects with the fields of a breadcrumb.
 */
export function lowerBoundHosts(framework, host, breadcrumbs) {
  const addHook = ADD_HOOK[framework]
  return {
    scoped: () => scopedHost(() => undefined),
    breadcrumbs: () =>
      scopedHost((storage) => async () => {
        for (let i = 0; i < breadcrumbs; i++) {
          const scope = storage.getStore()
          scope.trail ??= []
          scope.trail.push({ occurred_at: Date.now(), category: 'step', message: 'something happened' })
        }
      }),
  }

  async function scopedHost(work) {
    const storage = new AsyncLocalStorage()
    const running = await host({
      prepare: (app) => void addHook(app, (next) => storage.run({ trail: null }, next)),
      work: work(storage),
    })
    return {
      server: running.server,
      async close() {
        await running.close()
        // An enabled storage slows down every other host of the process.
        storage.disable()
      },
    }
  }
}

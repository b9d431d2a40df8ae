import { AsyncLocalStorage } from 'node:async_hooks'

const STARTED = Symbol('started')

/** Adds a function that runs before every handler. `watch` receives the request and the response of node:http. */
const ADD_HOOK = {
  express: (app, watch) => app.use((request, response, next) => watch(request, response, next)),
  fastify: (app, watch) => app.addHook('onRequest', (request, reply, next) => watch(request.raw, reply.raw, next)),
}

/** Responses that fail while they are sent. Only Fastify neither throws them nor passes them to a hook. */
const WATCH_RESPONSE = {
  express: () => {},
  fastify: (response) => response.on('pipe', ignore),
}

/**
 * Hosts that do only the unavoidable part of each configuration: `ours` stores the start of the request for its
 * duration and listens for a streamed response, `scoped` runs the request in an AsyncLocalStorage, and `breadcrumbs`
 * also appends objects with the fields of a breadcrumb.
 */
export function lowerBoundHosts(framework, host, breadcrumbs) {
  const addHook = ADD_HOOK[framework]
  const watchResponse = WATCH_RESPONSE[framework]
  return {
    ours: () =>
      host({
        prepare: (app) =>
          void addHook(app, (request, response, next) => {
            request.socket[STARTED] = performance.now()
            watchResponse(response)
            next()
          }),
      }),
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
      prepare: (app) => void addHook(app, (_request, _response, next) => storage.run({ trail: null }, next)),
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

function ignore() {}

import { createServer } from 'node:http'

/**
 * Each function starts one server per variant. Every host returns `ok`. `prepare` mounts the subject, and `work` runs in
 * every request.
 */
export const HOSTS = {
  async express(variants) {
    const { default: express } = await import('express')
    // Swaps the layers of one application, because two equal applications in a process differ by up to 10%.
    const app = express()
    const servers = []
    for (const { prepare = () => {}, finish = () => {}, work = async () => {} } of variants) {
      app.router.stack = []
      await prepare(app)
      app.get('/', async (_request, response) => {
        await work()
        response.send('ok')
      })
      await finish(app)
      const layers = app.router.stack
      const server = createServer((request, response) => {
        app.router.stack = layers
        app(request, response)
      })
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      servers.push(server)
    }
    return servers
  },

  async fastify(variants) {
    const { default: fastify } = await import('fastify')
    const servers = []
    for (const { prepare = () => {}, work = async () => {} } of variants) {
      const app = fastify()
      await prepare(app)
      app.get('/', async () => {
        await work()
        return 'ok'
      })
      await app.listen({ port: 0, host: '127.0.0.1' })
      servers.push(app.server)
    }
    return servers
  },
}

import { createServer } from 'node:http'

/** Creates a host that returns `ok`. `prepare` mounts the subject, and `work` runs in every request. */
export const HOSTS = {
  async express({ prepare = () => {}, finish = () => {}, work = async () => {} }) {
    const { default: express } = await import('express')
    const app = express()
    await prepare(app)
    app.get('/', async (_request, response) => {
      await work()
      response.send('ok')
    })
    await finish(app)
    return listening(createServer(app))
  },

  async fastify({ prepare = () => {}, work = async () => {} }) {
    const { default: fastify } = await import('fastify')
    const app = fastify()
    await prepare(app)
    app.get('/', async () => {
      await work()
      return 'ok'
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
}

function listening(server) {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

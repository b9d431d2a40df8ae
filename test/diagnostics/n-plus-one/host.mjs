// Host with N+1 queries against real databases, with pg and mysql2, in requests and jobs. Also uses deprecated APIs.
// Prints its port and stops when its standard input ends.
import { deprecate } from 'node:util'
import express from 'express'
import { capture } from '../../../dist/adapters/express.js'
import { createTracker } from '../../../dist/index.js'
import { instrumentMysql2 } from '../../../dist/subscribers/mysql2.js'
import { instrumentPg } from '../../../dist/subscribers/pg.js'

const { settings, urls } = JSON.parse(process.env.ORDERS)
const tracker = createTracker(settings)
const DRIVERS = { pg: withPg, mysql2: withMysql2, none: async () => leftByHand }

async function withPg(url) {
  const { default: pg } = await import('pg')
  instrumentPg(pg, tracker)
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  return (id) => pool.query("select $1::int as id, 'secret text' as name", [id])
}

async function withMysql2(url) {
  const { createPool } = await import('mysql2/promise')
  instrumentMysql2(tracker)
  const pool = createPool({ uri: url, connectionLimit: 2 })
  return (id) => pool.query(`select ${Number(id)} as id, 'secret text' as name`)
}

function leftByHand(id) {
  const message = `select * from users where id = ${id} and name = 'secret text'`
  tracker.addBreadcrumb({ category: 'sql', message, duration_ms: 2 })
}

const app = express()
for (const [driver, url] of Object.entries(urls)) addRoutes(driver, await DRIVERS[driver](url))

function addRoutes(driver, runStatement) {
  const loadOrders = async (count) => {
    for (let i = 0; i < count; i++) await runStatement(i)
  }
  app.get(`/${driver}/orders/:count`, async (request, response) => {
    await loadOrders(Number(request.params.count))
    response.send('ok')
  })
  app.get(`/${driver}/at-once/:count`, async (request, response) => {
    await Promise.all(Array.from({ length: Number(request.params.count) }, (_, i) => runStatement(i)))
    response.send('ok')
  })
  app.get(`/${driver}/failing`, async () => {
    await loadOrders(7)
    throw new Error('too many orders')
  })
  app.get(`/${driver}/job/:count`, async (request, response) => {
    const result = await tracker.withScope(async () => {
      tracker.setTags({ job: `nightly with ${driver}` })
      await loadOrders(Number(request.params.count))
      return 'done'
    })
    response.send(result)
  })
}

const old = deprecate(() => 'old', 'old() is deprecated, use fresh()', 'HOST001')
app.get('/deprecated', (_request, response) => {
  old()
  console.warn('DEPRECATED: colours() goes away, password=hunter2')
  tracker.addBreadcrumb({ category: 'deprecation', message: 'left by hand', metadata: { code: 'OWN' } })
  // Node.js 20 attributes a call below an Express handler to the library.
  setImmediate(() => {
    new Buffer(1)
    response.send('ok')
  })
})
app.use(capture(tracker))
app.use((_error, _request, response, _next) => response.status(500).send('failed'))

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().once('end', async () => {
  await tracker.shutdown()
  process.exit()
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { PRODUCTS } from './comparison/products.mjs'
import { runChild } from './harness/child.mjs'
import { interleaved, median } from './harness/measure.mjs'
import { isInstalled } from './harness/peers.mjs'
import { row } from './harness/report.mjs'

const CHILD = fileURLToPath(new URL('comparison/product-child.mjs', import.meta.url))
const MEGABYTE = 2 ** 20
const OURS = 'Faultboard'
const ROUNDS = 2

/** Packages of a product that may be missing, because one of them has to be compiled. */
const PACKAGES = { Errsole: ['errsole', 'errsole-sqlite'] }

/** Compares the costs of Faultboard for its host with those of other products. */
export async function* comparison() {
  yield { title: 'Comparison with other products', measure: measureProducts }
}

async function measureProducts() {
  const receiver = createServer(accept).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address()
  const names = Object.keys(PRODUCTS).filter((name) => (PACKAGES[name] ?? []).every(isInstalled))
  try {
    const results = await interleaved(ROUNDS, names, async (name) => ({
      start: await runChild(CHILD, { name, port, chunks: 0 }),
      ...(await runChild(CHILD, { name, port, chunks: 10, slices: 4 })),
    }))
    return names.flatMap((name) => productRows(name, results))
  } finally {
    receiver.close()
    receiver.closeAllConnections()
  }
}

function productRows(name, results) {
  const medianOf = (product, read) => median(results.get(product).map(read))
  const compared = (figureName, unit, read) =>
    row({
      ...{ name: `${name}: ${figureName}`, figure: medianOf(name, read), unit },
      ...{ ratio: medianOf(name, read) / medianOf(OURS, read), against: OURS },
      note: MEASUREMENT_NOTE,
    })
  return [
    compared('start', 'ms', ({ start }) => start.ms),
    compared('memory after the start', 'MB', ({ start }) => start.bytes / MEGABYTE),
    compared('one error', 'µs', ({ error }) => error),
    compared('one successful request', 'times bare', ({ request, bare }) => request / bare),
  ]
}

const MEASUREMENT_NOTE =
  'CPU time of the host process. Error: 10 frames, until it is stored (Faultboard, Errsole), sent to a receiver on loopback, or discarded (pino). Request: Express 5, compared with the same process before the product was loaded.'

/** Accepts every report, as the servers of the products do. */
function accept(request, response) {
  request.resume().on('end', () => {
    // Honeybadger requires 201, Rollbar 200.
    response.writeHead(request.url.startsWith('/v1/notices') ? 201 : 200, { 'Content-Type': 'application/json' })
    response.end('{"err":0,"result":{"id":null,"uuid":"0"},"id":"0"}')
  })
}

// Starts one product in its own process and measures its start, the cost of an error, and of a successful request.
import { fileURLToPath } from 'node:url'
import { createError } from '../capture/errors.mjs'
import { nextMessage, receiveTask, sendResult, startChild } from '../harness/child.mjs'
import { median } from '../harness/measure.mjs'
import { HOSTS } from '../requests/hosts.mjs'
import { PRODUCTS } from './products.mjs'

const FRAMES = 10
const CHUNK = 20
const REQUESTS = 1500
/** V8 optimizes the host during the first thousands of requests. */
const WARM_SLICES = 6
/** Some products process an error after they report it as sent. */
const IDLE_MS = 30

const { name, port, chunks, slices } = await receiveTask()
sendResult(await (chunks === 0 ? measureStartup() : measureWork()))
// Open sockets and timers of some products keep the process alive.
setTimeout(() => process.exit(), 100)

async function measureStartup() {
  const memory = process.memoryUsage.rss()
  const elapsed = stopwatch()
  await PRODUCTS[name](port)
  return { ms: elapsed() / 1000, bytes: process.memoryUsage.rss() - memory }
}

async function measureWork() {
  const load = startChild(fileURLToPath(new URL('../requests/load-child.mjs', import.meta.url)))
  // Measured before the product is loaded, because some products change the whole process.
  const bare = await measureRequest(load, {})
  const product = await PRODUCTS[name](port)
  const error = await measureError(product)
  const request = await measureRequest(load, product.mount)
  load.disconnect()
  await product.close()
  return { error, request, bare }
}

/** CPU time per error in microseconds, until it is sent or stored, without the time to create it. */
async function measureError(product) {
  const measured = []
  for (let chunk = -chunks; chunk < chunks; chunk++) {
    const errors = Array.from({ length: CHUNK }, (_, i) => createError(FRAMES, `Order ${chunk * CHUNK + i} failed`))
    const micros = stopwatch()
    for (const error of errors) await product.capture(error)
    await new Promise((resume) => setTimeout(resume, IDLE_MS))
    if (chunk >= 0) measured.push(micros() / CHUNK)
  }
  return median(measured)
}

/** CPU time of this process per request in microseconds. */
async function measureRequest(load, mount) {
  const [server] = await HOSTS.express([mount])
  const measured = []
  for (let slice = -WARM_SLICES; slice < slices; slice++) {
    const micros = stopwatch()
    load.send({ port: server.address().port, requests: REQUESTS })
    await nextMessage(load)
    if (slice >= 0) measured.push(micros() / REQUESTS)
  }
  server.close()
  server.closeAllConnections()
  return median(measured)
}

/** Microseconds of CPU time since the start. */
function stopwatch() {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
}

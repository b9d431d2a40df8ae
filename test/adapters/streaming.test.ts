import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { PASSWORD, signIn, startListening, USER } from '../support/host.js'
import { eventually } from '../support/tracker.js'

const CHUNK = new Uint8Array(64 * 1024).fill(120)

/** Endless response body that counts the bytes pulled from it. */
function endlessBody() {
  const state = { pulledBytes: 0, isCanceled: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.pulledBytes += CHUNK.length
      controller.enqueue(CHUNK)
    },
    cancel() {
      state.isCanceled = true
    },
  })
  return { state, body }
}

test('applies backpressure to a stream and cancels it when the client disconnects', async () => {
  const { state, body } = endlessBody()
  const { request, response } = await requestExport(body)
  expect(response.headers['content-length']).toBeUndefined()
  response.pause()
  let lastCount = -1
  await eventually(async () => {
    const isPaused = state.pulledBytes === lastCount
    lastCount = state.pulledBytes
    await new Promise((resume) => setTimeout(resume, 200))
    return isPaused
  }, 'the stream is paused')
  expect(state.pulledBytes).toBeLessThan(50_000_000)
  expect(state.isCanceled).toBe(false)
  response.resume()
  await eventually(() => state.pulledBytes > lastCount, 'the stream is resumed')
  request.destroy()
  await eventually(() => state.isCanceled, 'the stream is canceled')
})

test('aborts the response when its stream fails', async () => {
  let chunks = 0
  const { response } = await requestExport(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (chunks++ === 3) throw new Error('the database is unavailable')
        controller.enqueue(CHUNK)
      },
    }),
  )
  const closed = once(response.resume(), 'close').catch(() => {})
  response.on('error', () => {})
  await closed
  expect([response.statusCode, response.complete]).toEqual([200, false])
})

test('cancels the stream if the client disconnected before the response', async () => {
  const { state, body } = endlessBody()
  let respond = () => {}
  const { origin } = await serve(body, new Promise<void>((resume) => (respond = resume)))
  const request = get(`${origin}/error_dashboard/errors.csv`, { agent: false, headers: signIn() }).on('error', () => {})
  await once(request, 'socket')
  await new Promise((resume) => setTimeout(resume, 100))
  request.destroy()
  await new Promise((resume) => setTimeout(resume, 100))
  respond()
  await eventually(() => state.isCanceled, 'the stream is canceled')
})

async function requestExport(body: ReadableStream<Uint8Array>) {
  const { origin } = await serve(body)
  const request = get(`${origin}/error_dashboard/errors.csv`, { agent: false, headers: signIn() })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  onTestFinished(() => void request.destroy())
  return { request, response }
}

/** Starts a host whose dashboard responds to every request with this body. */
async function serve(body: ReadableStream<Uint8Array>, ready = Promise.resolve()): Promise<{ origin: string }> {
  const settings = { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD }
  const tracker = new TrackerInstance(settings, { env: {}, write: () => {} })
  tracker.handle = async () => {
    await ready
    return new Response(body, { headers: { 'Content-Type': 'text/csv' } })
  }
  const server = createServer(withFaultboard(() => {}, tracker))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  })
  return { origin: await startListening(server) }
}

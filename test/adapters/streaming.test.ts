import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { listening, PASSWORD, signIn, USER } from '../support/host.js'
import { eventually } from '../support/tracker.js'

const CHUNK = new Uint8Array(64 * 1024).fill(120)

/** A table without an end, to see how much of it is asked for. */
function endless() {
  const state = { given: 0, given_up: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.given += CHUNK.length
      controller.enqueue(CHUNK)
    },
    cancel() {
      state.given_up = true
    },
  })
  return { state, body }
}

test('a stream is asked for no more than the client takes, and given up when the client goes away', async () => {
  const { state, body } = endless()
  const { request, response } = await open(body)
  expect(response.headers['content-length']).toBeUndefined()
  response.pause()
  let before = -1
  await eventually(async () => {
    const still = state.given === before
    before = state.given
    await new Promise((resume) => setTimeout(resume, 200))
    return still
  }, 'no more was asked for')
  expect(state.given).toBeLessThan(50_000_000)
  expect(state.given_up).toBe(false)
  response.resume()
  await eventually(() => state.given > before, 'more was asked for')
  request.destroy()
  await eventually(() => state.given_up, 'the source was given up')
})

test('aborts the response when its stream fails', async () => {
  let chunks = 0
  const { response } = await open(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (chunks++ === 3) throw new Error('the database is gone')
        controller.enqueue(CHUNK)
      },
    }),
  )
  const cut = once(response.resume(), 'close').catch(() => {})
  response.on('error', () => {})
  await cut
  expect([response.statusCode, response.complete]).toEqual([200, false])
})

test('cancels the stream if the client disconnected before the response', async () => {
  const { state, body } = endless()
  let answer = () => {}
  const { origin } = await serve(body, new Promise<void>((resume) => (answer = resume)))
  const request = get(`${origin}/error_dashboard/errors.csv`, { agent: false, headers: signIn() }).on('error', () => {})
  await once(request, 'socket')
  await new Promise((resume) => setTimeout(resume, 100))
  request.destroy()
  await new Promise((resume) => setTimeout(resume, 100))
  answer()
  await eventually(() => state.given_up, 'the source was given up')
})

async function open(body: ReadableStream<Uint8Array>) {
  const { origin } = await serve(body)
  const request = get(`${origin}/error_dashboard/errors.csv`, { agent: false, headers: signIn() })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  onTestFinished(() => void request.destroy())
  return { request, response }
}

/** A host whose dashboard answers everything with this table. */
async function serve(body: ReadableStream<Uint8Array>, when = Promise.resolve()): Promise<{ origin: string }> {
  const settings = { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD }
  const tracker = new TrackerInstance(settings, { env: {}, write: () => {} })
  tracker.handle = async () => {
    await when
    return new Response(body, { headers: { 'Content-Type': 'text/csv' } })
  }
  const server = createServer(withFaultboard(() => {}, tracker))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  })
  return { origin: await listening(server) }
}

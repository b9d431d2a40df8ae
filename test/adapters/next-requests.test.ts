import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { readPeer, trackRequests } from '../../src/adapters/next-requests.js'
import { startListening } from '../support/host.js'

test('finds the peer of a request and the state of its server from a copy of its headers', async () => {
  onTestFinished(trackRequests('/error_dashboard'))
  const server = createServer(({ headers }, response) => {
    peers.push(readPeer(new Headers(headers as Record<string, string>)))
    response.end()
  })
  const peers: ReturnType<typeof readPeer>[] = []
  const origin = await startListening(server)
  await fetch(`${origin}/error_dashboard/errors/live?a=b`, { headers: { connection: 'close' } })
  await fetch(`${origin}/orders`, { headers: { connection: 'close' } })
  const [dashboard, host] = peers
  expect(dashboard).toMatchObject({ remote_address: '127.0.0.1', url: '/error_dashboard/errors/live?a=b' })
  expect(host).toEqual({ remote_address: null, url: null })
  expect(dashboard?.closing?.()).toBe(false)
  server.close()
  expect(dashboard?.closing?.()).toBe(true)
})

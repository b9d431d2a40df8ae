import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { followRequests, readPeer } from '../../src/adapters/next-requests.js'
import { listening } from '../support/host.js'

test('of a copy of its headers alone it is known whose request it is, and whether its server has stopped listening', async () => {
  onTestFinished(followRequests('/error_dashboard'))
  const server = createServer(({ headers }, response) => {
    seen.push(readPeer(new Headers(headers as Record<string, string>)))
    response.end()
  })
  const seen: ReturnType<typeof readPeer>[] = []
  const origin = await listening(server)
  await fetch(`${origin}/error_dashboard/errors/live?a=b`, { headers: { connection: 'close' } })
  await fetch(`${origin}/orders`, { headers: { connection: 'close' } })
  const [dashboard, host] = seen
  expect(dashboard).toMatchObject({ remote_address: '127.0.0.1', url: '/error_dashboard/errors/live?a=b' })
  expect(host).toEqual({ remote_address: null, url: null })
  expect(dashboard?.closing?.()).toBe(false)
  server.close()
  expect(dashboard?.closing?.()).toBe(true)
})

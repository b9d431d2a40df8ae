import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** TCP proxy in front of a database server that simulates network faults. */
export async function startProxy(target) {
  const { hostname, port } = new URL(target)
  const pairs = new Set()
  let isDiscarding = false
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let isDead = false
    const end = () => {
      client.destroy()
      upstream.destroy()
      pairs.delete(end)
    }
    const pass = (to) => (chunk) => {
      // A connection with lost packets gets no response, even after the fault.
      isDead ||= isDiscarding
      if (!isDead) to.write(chunk)
    }
    client.on('data', pass(upstream))
    upstream.on('data', pass(client))
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end)
    pairs.add(end)
  })
  const listen = async (port) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const proxyPort = server.address().port
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(proxyPort)
  const endAll = () => {
    for (const end of pairs) end()
  }
  return {
    url: url.href,
    /** Breaks every connection and refuses new connections. */
    async refuse() {
      const closed = once(server, 'close')
      server.close()
      endAll()
      await closed
    },
    /** Keeps every connection and discards all packets. */
    blackhole() {
      isDiscarding = true
    },
    async open() {
      isDiscarding = false
      if (!server.listening) await listen(proxyPort)
    },
    close() {
      endAll()
      server.close()
    },
  }
}

// Sends the requested number of requests over persistent connections.
import { Agent, request } from 'node:http'

const CONNECTIONS = 8
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

process.on('message', async ({ port, requests }) => {
  let remaining = requests
  const sendSequentially = async () => {
    while (remaining-- > 0) await sendRequest(port)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendSequentially))
  process.send('done')
})
process.on('disconnect', () => process.exit())

function sendRequest(port) {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/', agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the host returned ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}

import { connect } from 'node:net'

/** Timeout for a host that does not respond. */
const SILENCE_MS = 10_000

/** Sends a request byte by byte as written, which no HTTP client would do, and returns the whole response. */
export function rawExchange(
  origin: string,
  requestLine: string,
  headers: readonly string[] = [],
): Promise<{ status: number | null; text: string }> {
  const { hostname, port } = new URL(origin)
  const head = [`${requestLine} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Connection: close', ...headers]
  return new Promise((settle) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'))
    })
    const finish = () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]
      settle({ status: status === undefined ? null : Number(status), text })
      socket.destroy()
    }
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', finish)
    socket.setTimeout(SILENCE_MS, finish)
  })
}

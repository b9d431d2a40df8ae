import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../../src/options.js'

export interface HostResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface GuardHost {
  express(path: string, clientAddress?: string): Promise<HostResponse>
  fastify(path: string): Promise<HostResponse>
  /** Stops the host gracefully. Returns its exit code and standard error. */
  stop(): Promise<{ code: unknown; errors: string }>
}

/** Starts the host of this folder with the given runtime. */
export async function startGuardHost(
  node: string,
  options: { settings: Settings | null; redis?: string | undefined },
): Promise<GuardHost> {
  const program = fileURLToPath(new URL('./host.mjs', import.meta.url))
  const prefix = `faultboard-test-${process.pid}-${Math.random()}`
  const child = spawn(node, [program], {
    env: { ...process.env, HOST_OPTIONS: JSON.stringify({ ...options, prefix }) },
  })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const first = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    ended.then(() => null),
  ])
  if (first === null) throw new Error(`The host did not start: ${errors}`)
  const ports = JSON.parse(first) as { express: number; fastify: number }
  const send = async (port: number, path: string, headers: Record<string, string>): Promise<HostResponse> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return { status: response.status, headers: comparable(response.headers), body: await response.text() }
  }
  return {
    express: (path, clientAddress) =>
      send(ports.express, path, clientAddress ? { 'x-forwarded-for': clientAddress } : {}),
    fastify: (path) => send(ports.fastify, path, {}),
    async stop() {
      child.stdin.end()
      const [code] = await ended
      return { code, errors }
    },
  }
}

/** Removes values that change every second. */
function comparable(headers: Headers): Record<string, string> {
  const { date: _date, ...stable } = Object.fromEntries(headers)
  for (const name of Object.keys(stable)) {
    if (/reset|retry-after/.test(name)) stable[name] = 'a number'
    else stable[name] = (stable[name] ?? '').replace(/t=\d+/, 't=a number')
  }
  return stable
}

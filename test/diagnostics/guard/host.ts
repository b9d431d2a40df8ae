import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../../src/options.js'

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface GuardHost {
  express(path: string, from?: string): Promise<Answer>
  fastify(path: string): Promise<Answer>
  /** Ends it in good order; gives its exit code and what it wrote to standard error. */
  stop(): Promise<{ code: unknown; errors: string }>
}

/** Starts a host program of this folder on a runtime. */
export async function startGuardHost(
  node: string,
  orders: { settings: Settings | null; redis?: string | undefined },
): Promise<GuardHost> {
  const program = fileURLToPath(new URL('./host.mjs', import.meta.url))
  const prefix = `faultboard-test-${process.pid}-${Math.random()}`
  const child = spawn(node, [program], { env: { ...process.env, ORDERS: JSON.stringify({ ...orders, prefix }) } })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const first = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    ended.then(() => null),
  ])
  if (first === null) throw new Error(`the host did not start: ${errors}`)
  const ports = JSON.parse(first) as { express: number; fastify: number }
  const ask = async (port: number, path: string, headers: Record<string, string>): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return { status: response.status, headers: comparable(response.headers), body: await response.text() }
  }
  return {
    express: (path, from) => ask(ports.express, path, from ? { 'x-forwarded-for': from } : {}),
    fastify: (path) => ask(ports.fastify, path, {}),
    async stop() {
      child.stdin.end()
      const [code] = await ended
      return { code, errors }
    },
  }
}

/** Without what differs from one second to the next. */
function comparable(headers: Headers): Record<string, string> {
  const { date: _date, ...others } = Object.fromEntries(headers)
  for (const name of Object.keys(others)) {
    if (/reset|retry-after/.test(name)) others[name] = 'a number'
    else others[name] = (others[name] ?? '').replace(/t=\d+/, 't=a number')
  }
  return others
}

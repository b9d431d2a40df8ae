import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../../../src/options.js'

export interface QueryHost {
  get(path: string): Promise<string>
  stop(): Promise<unknown>
}

/** Starts a host that uses the given database drivers. */
export async function startQueryHost(
  node: string,
  orders: { settings: Settings; urls: Partial<Record<'pg' | 'mysql2' | 'none', string>> },
): Promise<QueryHost> {
  const program = fileURLToPath(new URL('./host.mjs', import.meta.url))
  const child = spawn(node, [program], { env: { ...process.env, ORDERS: JSON.stringify(orders) } })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const port = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    ended.then(() => null),
  ])
  if (port === null) throw new Error(`the host did not start: ${errors}`)
  return {
    get: async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).text(),
    async stop() {
      child.stdin.end()
      return (await ended)[0]
    },
  }
}

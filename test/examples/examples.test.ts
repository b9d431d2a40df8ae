import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { signIn } from '../support/host.js'

const running: ChildProcess[] = []
const folders: string[] = []

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe.each([
  ['express', '/', 'The first error'],
  ['fastify', '/', 'The first error'],
  ['koa', '/', 'The first error'],
  ['hono', '/', 'The first error'],
  ['h3', '/', 'The first error'],
  ['nest', '/orders', 'The orders cannot be read'],
  ['node', '/orders', 'The orders cannot be read'],
])('examples/%s', (name, path, message) => {
  test('shows its error on the dashboard', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'faultboard-example-'))
    folders.push(folder)
    const port = await freePort()
    const child = spawn(process.execPath, [resolve(`examples/${name}/app.js`)], {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, PORT: String(port), DASHBOARD_PASSWORD: 'secret' },
    })
    running.push(child)
    const origin = `http://127.0.0.1:${port}`
    const headers = signIn('admin', 'secret')
    await until(() => fetch(`${origin}/error_dashboard/overview`, { headers }).then((response) => response.ok))
    // The node example leaves a rejected handler unanswered, as such a host does.
    void fetch(`${origin}${path}`, { signal: AbortSignal.timeout(5000) }).catch(() => {})
    const errors = await until(async () => {
      const { errors } = await (await fetch(`${origin}/error_dashboard/errors.json`, { headers })).json()
      return errors.length > 0 ? errors : null
    })
    expect(errors).toMatchObject([{ message, occurrence_count: 1 }])
  })
})

async function until<T>(attempt: () => Promise<T>): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + 20_000; ; ) {
    const result = await attempt().catch(() => null)
    if (result) return result
    if (Date.now() > deadline) throw new Error('it did not happen in time')
    await new Promise((resume) => setTimeout(resume, 50))
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => done(port))
    })
  })
}

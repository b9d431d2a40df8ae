import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { packedFolder } from '../support/processes/installed.js'

const root = packedFolder()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** Runs the handler once per line of standard input, and prints its result. */
const RUNTIME = `
  import { createInterface } from 'node:readline'
  async function placeOrder({ id }) { throw new Error('Order ' + id + ' has no items') }
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await handler(JSON.parse(line))))
  }`

test('the function of docs/deployment.md has stored its errors before it is frozen', { timeout: 60_000 }, async () => {
  const [, sample = ''] =
    /## Serverless functions.*?```js\n(.*?)```/s.exec(readFileSync('docs/deployment.md', 'utf8')) ?? []
  writeFileSync(join(root, 'function.mjs'), sample + RUNTIME)
  const database = `sqlite:${join(root, 'function.sqlite3')}`
  const env = { ...process.env, FAULTBOARD_DATABASE: database }
  const host = spawn(process.execPath, ['function.mjs'], { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
  cleanups.push(() => host.kill('SIGKILL'))
  const results = createInterface({ input: host.stdout })
  const invoke = async (id: number) => {
    host.stdin.write(`${JSON.stringify({ id })}\n`)
    return (await once(results, 'line'))[0]
  }
  const occurrences = () => {
    const command = [resolve('dist/cli/main.js'), 'errors', '--json', '--database', database]
    const output = execFileSync(process.execPath, command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const { errors } = JSON.parse(output) as { errors: { occurrence_count: number }[] }
    return errors.map(({ occurrence_count }) => occurrence_count)
  }

  expect(await invoke(1)).toBe('{"statusCode":500}')
  host.kill('SIGSTOP')
  expect(occurrences()).toEqual([1])
  host.kill('SIGCONT')
  expect(await invoke(2)).toBe('{"statusCode":500}')
  host.kill('SIGKILL')
  expect(occurrences()).toEqual([2])
})

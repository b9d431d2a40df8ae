import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { CREDENTIALS, temporaryFolder, trackerAt } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('../fixtures/user-callback-host.mjs', import.meta.url))

test.each([
  'throws',
  'rejects',
  'rejects later',
  'never settles',
  'returns throwing getters',
  'returns an id that throws',
  'returns a hostile proxy',
  'returns a huge id',
  'returns a thenable that throws',
  'reports the error of the request',
])('records the error once without changing the response when user_callback %s', async (behavior) => {
  const { output, counts } = await request(behavior)
  expect(output).toEqual({ status: 503, body: 'sorry: from the handler', rejections: 0 })
  expect(counts).toEqual({ 'from the handler': 1 })
})

test('records both errors once when user_callback reports an error', async () => {
  const { output, counts } = await request('reports an error')
  expect(output).toEqual({ status: 503, body: 'sorry: from the handler', rejections: 0 })
  expect(counts).toEqual({ 'from the handler': 1, 'from the callback': 1 })
})

/** Fails in a handler of a real host. Returns its response and the stored counts. */
async function request(behavior: string) {
  const folder = temporaryFolder()
  const url = `sqlite:${join(folder, 'errors.sqlite3')}`
  const spool_path = join(folder, 'spool')
  const file = join(folder, 'input.json')
  const settings = { ...CREDENTIALS, database: url, spool_path, application_name: 'shop', max_event_loop_lag_ms: null }
  writeFileSync(file, JSON.stringify({ settings, behavior }))
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect(code).toBe(0)
  const { tracker } = trackerAt({ url, spool_path })
  const errors = await tracker.Queries.ErrorsList.call()
  return {
    output: JSON.parse(stdout) as unknown,
    counts: Object.fromEntries(errors.map(({ message, occurrence_count }) => [message, occurrence_count])),
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { migratedSqlite } from '../../support/databases.js'
import { CREDENTIALS, temporaryFolder, trackerAt } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('../fixtures/user-callback-host.mjs', import.meta.url))

const BEHAVIORS = [
  'throws',
  'rejects',
  'rejects later',
  'never settles',
  'returns throwing getters',
  'returns an id that throws',
  'returns a hostile proxy',
  'returns a huge id',
  'returns a thenable that throws',
]

/** Later requests of a process have a scope, from which a nested report could read the request again. */
const REQUESTS = 3
const REPORTING_BEHAVIORS = [
  { behavior: 'reports an error', others: { 'Error: from the callback': REQUESTS } },
  { behavior: 'reports the error of the request', others: {} },
]

test('records every error once without changing the response when user_callback misbehaves', async () => {
  await expectOneErrorPerRequest(BEHAVIORS, {})
}, 120_000)

test.each(REPORTING_BEHAVIORS)('records each error once when user_callback $behavior', async ({ behavior, others }) => {
  await expectOneErrorPerRequest(Array(REQUESTS).fill(behavior), others)
})

async function expectOneErrorPerRequest(behaviors: readonly string[], others: Record<string, number>): Promise<void> {
  const { output, counts } = await requestAll(behaviors)
  const response = { status: 503, body: 'sorry: from the handler', rejections: 0 }
  expect(output).toEqual(Object.fromEntries(behaviors.map((behavior) => [behavior, response])))
  const handlerErrors = Object.fromEntries(
    behaviors.map((behavior) => [
      `${behavior}: from the handler`,
      behaviors.filter((other) => other === behavior).length,
    ]),
  )
  expect(counts).toEqual({ ...handlerErrors, ...others })
}

/** Fails once per behavior in a handler of a real host. Returns its responses and the stored counts. */
async function requestAll(behaviors: readonly string[]) {
  const folder = temporaryFolder()
  const { url, remove } = await migratedSqlite()
  onTestFinished(remove)
  const spool_path = join(folder, 'spool')
  const file = join(folder, 'input.json')
  const settings = { ...CREDENTIALS, database: url, spool_path, application_name: 'shop', max_event_loop_lag_ms: null }
  writeFileSync(file, JSON.stringify({ settings, behaviors }))
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect(code).toBe(0)
  const { tracker } = trackerAt({ url, spool_path })
  const errors = await tracker.Queries.ErrorsList.call()
  return {
    output: JSON.parse(stdout) as unknown,
    counts: Object.fromEntries(
      errors.map(({ error_type, message, occurrence_count }) => [`${error_type}: ${message}`, occurrence_count]),
    ),
  }
}

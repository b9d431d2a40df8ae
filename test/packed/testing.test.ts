import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedFolder } from '../support/processes/installed.js'

const root = packedFolder()

const harness = (runner: string) => `
  import express from 'express'
  import { test } from '${runner}'
  import { capture, dashboard } from 'faultboard/express'
  import { adapterContract, databaseContract, testRoutes } from 'faultboard/testing'

  const adapter = {
    host(tracker) {
      const app = express().set('env', 'production')
      app.use(dashboard(tracker))
      for (const [path, run] of Object.entries(testRoutes(tracker))) {
        app.get(path, async (request, response) => response.send(await run()))
      }
      return app.use(capture(tracker))
    },
  }
  let number = 0
  const database = {
    open: async () => ({ database: \`sqlite:contract-\${process.pid}-\${number++}.sqlite3\`, close: async () => {} }),
  }
  for (const { title, run } of [...adapterContract(adapter), ...databaseContract(database)]) test(title, run)
`

test.each([
  ['node:test', ['--test', '--test-reporter=tap', 'adapter.test.mjs'], /# pass 13\n# fail 0/],
  ['vitest', ['../node_modules/vitest/vitest.mjs', 'run', '--root', '.', '--test-timeout', '60000'], /13 passed/],
])('a project that uses %s runs the contracts of faultboard/testing', { timeout: 180_000 }, (runner, args, passed) => {
  expect(runTests(runner.replace(':', '-'), harness(runner), args)).toMatch(passed)
})

test('the example of docs/testing.md passes', { timeout: 60_000 }, () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/testing.md', 'utf8')) ?? []
  expect(runTests('docs', code, ['--test', '--test-reporter=tap', 'adapter.test.mjs'])).toMatch(/# pass 1\n# fail 0/)
})

const DEFAULT_DATABASE = `
  import assert from 'node:assert/strict'
  import { existsSync } from 'node:fs'
  import { Tracker } from 'faultboard'
  import { recordedErrors } from 'faultboard/testing'
  async function check() {
    await Tracker.report(new Error('Payment rejected'))
    assert.deepEqual((await recordedErrors()).map(({ message }) => message), ['Payment rejected'])
    await Tracker.shutdown()
    assert.equal(existsSync('faultboard.sqlite3'), false)
  }
`

test.each([
  ['node:test', ['--test', '--test-reporter=tap', 'adapter.test.mjs'], /# pass 1\n# fail 0/],
  ['vitest', ['../node_modules/vitest/vitest.mjs', 'run', '--root', '.'], /1 passed/],
])(
  'a project that uses %s does not write to the default database file',
  { timeout: 60_000 },
  (runner, args, passed) => {
    const code = `import { test } from '${runner}'\n${DEFAULT_DATABASE}\ntest('records an error', check)`
    expect(runTests(`default-${runner.replace(':', '-')}`, code, args)).toMatch(passed)
  },
)

/** Runs a test file in a project of its own. Returns the output. */
function runTests(project: string, code: string, args: string[]): string {
  const cwd = join(root, project)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'third-party', private: true, type: 'module' }))
  writeFileSync(join(cwd, 'adapter.test.mjs'), code)
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env
  const env = Object.fromEntries(Object.entries(inherited).filter(([name]) => !/^(VITEST|FAULTBOARD_)/.test(name)))
  return execFileSync(process.execPath, args, { cwd, encoding: 'utf8', env: { ...env, NO_COLOR: '1' } })
}

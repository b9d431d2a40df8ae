import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'

/** Tests of the SQLite driver, of damaged files, of handles of the host, of bulk inserts and of the search. */
const CONTRACT = [
  ...['sqlite-driver', 'sqlite-file', 'host-database'].map((name) => `test/store/dialects/${name}.test.ts`),
  'test/store/bulk/packed-rows.test.ts',
  'test/triage/errors-list-search.test.ts',
]

describeEachRuntime('node:sqlite', ({ major, path }) => {
  const isOlder = major < 22
  test.skipIf(isOlder)(
    `passes the tests of the SQLite dialect${isOlder ? ' (skipped: Node.js has no SQLite, and all other tests cover its replacement)' : ''}`,
    async () => {
      const { numPassedTests, testResults } = await runTests(path)
      const failed = testResults.flatMap(({ message, assertionResults }) => [
        ...(message ? [message] : []),
        ...assertionResults.flatMap(({ fullName, failureMessages }) =>
          failureMessages.map((it) => `${fullName}: ${it}`),
        ),
      ])
      expect(failed).toEqual([])
      expect(numPassedTests).toBeGreaterThan(50)
    },
    300_000,
  )
})

interface Report {
  numPassedTests: number
  testResults: { message: string; assertionResults: { fullName: string; failureMessages: string[] }[] }[]
}

async function runTests(node: string): Promise<Report> {
  const program = [resolve('node_modules/vitest/vitest.mjs'), 'run', '--maxWorkers=1', '--reporter=json', ...CONTRACT]
  const child = spawn(node, program, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DATABASES: 'sqlite', FAULTBOARD_TEST_EXCLUDE: '' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = await text(child.stdout)
  return JSON.parse(output.slice(output.indexOf('{"numTotalTestSuites"'))) as Report
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { ALL_PAGES_ON } from '../support/hostile.js'
import { describeEachRuntime, type Runtime } from '../support/processes/runtimes.js'
import { FEEDS, PAGES } from '../support/routes.js'
import { CREDENTIALS, temporaryFolder } from '../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('./fixtures/permission-host.mjs', import.meta.url))
const PATHS = [...PAGES, ...FEEDS].map(({ path }) => path.replace(/:\w+\{[^}]*\}/g, '1'))
/** Pages that need a dump or a parameter. All others respond with 200. */
const OTHER_STATUSES: Readonly<Record<string, number>> = {
  '/errors/diagnostic_dumps/1': 404,
  '/errors/changes': 422,
}

describeEachRuntime('under the permission model', (runtime) => {
  const isNode20 = runtime.name === 'Node.js 20'
  test.skipIf(isNode20)(
    `responds on every page without permission to spawn${isNode20 ? ' (skipped: not on Node.js 20)' : ''}`,
    async () => {
      const expected = PATHS.map((path) => [path, OTHER_STATUSES[path] ?? 200])
      expect(await visit(runtime)).toEqual(Object.fromEntries(expected))
    },
  )
})

async function visit({ name, path }: Runtime): Promise<Record<string, number>> {
  const folder = temporaryFolder()
  const settings = {
    ...CREDENTIALS,
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    spool_path: join(folder, 'spool'),
    crash_capture_path: join(folder, 'crashes'),
    diagnostic_dump_path: join(folder, 'dumps'),
    application_name: 'shop',
    max_event_loop_lag_ms: null,
    ...ALL_PAGES_ON,
    enable_local_variables: true,
    enable_git_blame: true,
  }
  const file = join(folder, 'orders.json')
  writeFileSync(file, JSON.stringify({ settings, paths: PATHS }))
  const flag = name === 'Node.js 22' ? '--experimental-permission' : '--permission'
  const flags = [flag, '--allow-fs-read=*', `--allow-fs-write=${folder}/*`]
  const child = spawn(path, [...flags, PROGRAM, file], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Record<string, number>
}

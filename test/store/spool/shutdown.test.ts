import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { TrackerInstance } from '../../../src/tracker.js'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

test('loses no error when the process exits during shutdown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-shutdown-'))
  folders.push(folder)
  const settings = { database: `sqlite:${folder}/errors.sqlite3`, dashboard_username: 'a', dashboard_password: 'b' }
  run(`
    const tracker = createTracker(${JSON.stringify(settings)})
    await tracker.ready()
    void tracker.Commands.LogError.call({ exception: new Error('at the very end') })
    void tracker.shutdown()
    process.exit(0)`)
  const tracker = new TrackerInstance(settings, { env: {}, write: () => {} })
  await tracker.ready()
  await tracker.flush()
  expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ message: 'at the very end', occurrence_count: 1 }])
  await tracker.shutdown()
})

test('makes every caller of shutdown wait for the flush and refuses later errors', async () => {
  const lines: string[] = []
  const tracker = new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: 'a', dashboard_password: 'b' },
    { env: {}, write: (line) => lines.push(line) },
  )
  const logged = tracker.Commands.LogError.call({ error_type: 'Late', message: 'm' })
  await Promise.all([tracker.shutdown(), tracker.shutdown()])
  expect(await logged).toMatchObject({ state: 'recorded' })
  expect(await tracker.Commands.LogError.call({ error_type: 'Later', message: 'm' })).toBeNull()
  expect(lines.join('')).toContain('call start() to use it again')
  await expect(tracker.Queries.ErrorsList.page()).rejects.toMatchObject({ code: 'shut_down' })
  await expect(tracker.ready()).rejects.toMatchObject({ code: 'shut_down' })
  await tracker.start().ready()
  await tracker.shutdown()
})

test('shares one pair of exit hooks between trackers and removes it again', async () => {
  const before = process.listenerCount('exit')
  const trackers = Array.from({ length: 15 }, () =>
    new TrackerInstance(
      { database: 'sqlite::memory:', dashboard_username: 'a', dashboard_password: 'b' },
      { env: {} },
    ).start(),
  )
  expect(process.listenerCount('exit')).toBeLessThanOrEqual(before + 1)
  for (const tracker of trackers) await tracker.shutdown()
  expect(process.listenerCount('exit')).toBe(before)
})

/** May read this repository even if it is in a folder that only root can open. */
const WITHOUT_PASSWD_ENTRY = [
  ...['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'],
  ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
]

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'spools errors of a user without an entry in the passwd file',
  () => {
    const printed = run(
      `const tracker = createTracker({ database: 'postgres://127.0.0.1:1/none', dashboard_username: 'a', dashboard_password: 'b' })
     const { state } = await tracker.Commands.LogError.call({ exception: new Error('x') })
     console.log(state)
     process.exit(0)`,
      WITHOUT_PASSWD_ENTRY,
    )
    expect(printed.trim()).toBe('spooled')
  },
)

function run(script: string, prefix: readonly string[] = []): string {
  const load = `import { createTracker } from ${JSON.stringify(resolve('dist/index.js'))}\n`
  const [program = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', load + script]
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: tmpdir(),
  })
}

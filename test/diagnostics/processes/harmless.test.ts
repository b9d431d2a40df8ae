import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { CREDENTIALS, temporaryFolder } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('./script.mjs', import.meta.url))
const ON = { enable_diagnostic_dump: true, enable_system_health: true, enable_process_health: true }

/** Runs the script until it exits. A script that hangs is killed and has no exit code. */
async function run(node: string, action: string, options: object) {
  const database = `sqlite:${join(temporaryFolder(), 'test.sqlite3')}`
  const scriptOptions = { action, settings: { database, application_name: 'shop', ...CREDENTIALS, ...options } }
  const child = spawn(node, [PROGRAM], { env: { ...process.env, SCRIPT_OPTIONS: JSON.stringify(scriptOptions) } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const timeout = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code] = await once(child, 'close')
  clearTimeout(timeout)
  return { code, stdout, stderr }
}

// Two features measure the event loop.
const CREATED = { observers: 1, histograms: 2 }

describeEachRuntime('process monitoring', ({ path }) => {
  test('does not keep the process alive and prints nothing', async () => {
    const { code, stdout, stderr } = await run(path, 'fail', ON)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject(CREATED)
  })

  test('keeps a script alive until its CPU profile is written, and ends a running one when the tracker shuts down', async () => {
    expect(await run(path, 'profile', ON)).toMatchObject({ code: 0, stderr: '' })
  })
})

describeEachRuntime(
  'process monitoring without a profile',
  ({ path }) => {
    test('does not keep a process without errors alive', async () => {
      const { code, stdout, stderr } = await run(path, 'nothing', ON)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject(CREATED)
    })

    test('creates no observers while process monitoring is off', async () => {
      const { code, stdout } = await run(path, 'fail', {})
      expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, observers: 0, histograms: 0 })
    })

    test('does not change how a failing host exits', async () => {
      const [off, on] = [await run(path, 'throw', {}), await run(path, 'throw', ON)]
      expect({ code: on.code, stderr: on.stderr }).toEqual({ code: off.code, stderr: off.stderr })
      expect(on.code).toBe(1)
    })
  },
  { onlyNewest: true },
)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/runtimes.js'
import { CREDENTIALS, temporaryFolder } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('./script.mjs', import.meta.url))
const ON = { enable_diagnostic_dump: true, enable_system_health: true, enable_process_health: true }

/** Runs the script to its end; one that never ends is killed, and has no exit code. */
async function run(node: string, deed: string, switches: object) {
  const database = `sqlite:${join(temporaryFolder(), 'test.sqlite3')}`
  const orders = { deed, settings: { database, application_name: 'shop', ...CREDENTIALS, ...switches } }
  const child = spawn(node, [PROGRAM], { env: { ...process.env, ORDERS: JSON.stringify(orders) } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const impatience = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code] = await once(child, 'close')
  clearTimeout(impatience)
  return { code, stdout, stderr }
}

describeEachRuntime('measuring the process', ({ path }) => {
  test.each(['nothing', 'fail'])('keeps no process alive and says nothing: %s', async (deed) => {
    const { code, stdout, stderr } = await run(path, deed, ON)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // One for each of the two that measure the event loop.
    expect(JSON.parse(stdout)).toMatchObject({ observers: 1, histograms: 2 })
  })

  test('makes nothing at all while it is switched off', async () => {
    const { code, stdout } = await run(path, 'fail', {})
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, observers: 0, histograms: 0 })
  })

  test('leaves the end of a host that fails as it is', async () => {
    const [off, on] = [await run(path, 'throw', {}), await run(path, 'throw', ON)]
    expect({ code: on.code, stderr: on.stderr }).toEqual({ code: off.code, stderr: off.stderr })
    expect(on.code).toBe(1)
  })

  test('lets a script end only when the profile it awaits is taken', async () => {
    expect(await run(path, 'await', ON)).toMatchObject({ code: 0, stderr: '' })
  })

  test('ends a profile that is being taken when the tracker is shut down', async () => {
    expect(await run(path, 'profile', ON)).toMatchObject({ code: 0, stderr: '' })
  })
})

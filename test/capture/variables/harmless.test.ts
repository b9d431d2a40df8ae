import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import {
  createApplication,
  GENEROUS_LIMITS,
  type ProcessResult,
  parseOutput,
  run,
  settingsFor,
} from './fixtures/hosts.js'

const OFF_MESSAGE = /^\[faultboard\] Local variables are off until the next start: (.*)\.$/m

describeEachRuntime('reading local variables', (runtime) => {
  const application = createApplication('ES modules')
  const { root } = application
  const shop = application.shops['ES modules']
  const location = { runtime, root }

  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('changes no behavior of the host and runs none of its code', async () => {
    const [untracked, tracked] = [
      await run('harmless.mjs', { settings: null }, location),
      await run('harmless.mjs', { settings: settingsFor(root) }, location),
    ]
    expect(tracked).toEqual(untracked)
    expect(parseOutput(tracked)).toMatchObject({ hostile: 'Error: among traps', touched: 0, isRestored: true })
  })

  test.each(['exception', 'rejection'])(
    'does not change a crash by an %s and stores the variables in the crash file',
    async (kind) => {
      const crash_capture_path = join(root, `crashes-${kind}`)
      const untracked = await run('crash.mjs', { shop, kind, settings: null }, location)
      const settings = settingsFor(root, { ...GENEROUS_LIMITS, crash_capture_path })
      const tracked = await run('crash.mjs', { shop, kind, settings }, location)
      if (kind === 'exception') expect(tracked).toEqual(untracked)
      else expect(withoutExcerpt(tracked)).toEqual(withoutExcerpt(untracked))
      expect(tracked.code).toBe(1)
      const [file = ''] = readdirSync(crash_capture_path)
      const [newest] = JSON.parse(readFileSync(join(crash_capture_path, file), 'utf8').split('\n')[1] ?? '').kept
      const [{ variables }] = newest.context.local_variables
      if (kind === 'exception') expect(variables).toMatchObject({ discount: 1000, reduced: -36 })
      else expect(variables).toMatchObject({ order: { id: 9 }, kind, card: '[FILTERED]' })
    },
  )

  test('local variable capture stays off with one log line if a debugger is attached', async () => {
    const { code, stdout, stderr } = await run('limits.mjs', { settings: settingsFor(root), task: 'off' }, { ...location, flags: ['--inspect=127.0.0.1:0'] }) // biome-ignore format: one run
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ read: null, dropped: { local_variables_off: 1 } })
    expect(OFF_MESSAGE.exec(stderr)?.[1]).toBe('a debugger is attached to the process')
    expect(stderr.match(/\[faultboard\]/g)).toHaveLength(1)
  })

  test('stops when a debugger attaches', async () => {
    const end = await run('limits.mjs', { settings: settingsFor(root), task: 'attached' }, location)
    expect(JSON.parse(end.stdout)).toMatchObject({ before: 1, during: null, dropped: { local_variables_off: 1 } })
    expect(OFF_MESSAGE.exec(end.stderr)?.[1]).toBe('a debugger is attached to the process')
  })

  const isNode20 = runtime.name === 'Node.js 20'
  test.skipIf(isNode20)(
    `local variable capture stays off with one log line if the permission model denies it${isNode20 ? ' (skipped: not on Node.js 20)' : ''}`,
    async () => {
      const flags = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons', '--no-warnings']
      const { code, stdout, stderr } = await run('limits.mjs', { settings: settingsFor(root), task: 'off' }, { ...location, flags }) // biome-ignore format: one run
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(OFF_MESSAGE) })
      expect(OFF_MESSAGE.exec(stderr)?.[1]).toBe('the permission model of the process denies it')
      expect(JSON.parse(stdout)).toMatchObject({ read: null })
    },
  )

  // Before Node.js 24, the embedded SQLite cannot be queried in a worker thread.
  const queriesInThreads = runtime.name === 'Node.js 24'
  test.runIf(queriesInThreads)(
    `reads the variables of errors thrown in a worker thread${queriesInThreads ? '' : ' (skipped: needs Node.js 24)'}`,
    async () => {
      const orders = { settings: settingsFor(root), task: 'stopped' }
      expect(parseOutput(await run('worker.mjs', orders, location))).toMatchObject({ read: 6 })
    },
  )

  test('does not load the inspector while local variable capture is off', async () => {
    const settings = settingsFor(root, {})
    expect(parseOutput(await run('limits.mjs', { settings, task: 'off' }, location))).toMatchObject({
      read: null,
      is_loaded: false,
    })
  })
})

/**
 * Removes the source excerpt above the stack. After V8 has read a stack, Node.js prints an internal line instead of
 * the line that rejected the promise.
 */
function withoutExcerpt({ stderr, ...end }: ProcessResult): ProcessResult {
  return { ...end, stderr: stderr.slice(stderr.indexOf('\nError: ')) }
}

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { answerOf, applicationOf, type End, ROOMY, run, settingsFor } from './fixtures/hosts.js'

const DENIED = /^\[faultboard\] Local variables are off until the next start: (.*)\.$/m

describeEachRuntime('reading local variables', (runtime) => {
  const application = applicationOf('ES modules')
  const { root } = application
  const shop = application.shops['ES modules']
  const place = { runtime, root }

  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('changes nothing that the host does, and runs no code of it', async () => {
    const [alone, read] = [
      await run('harmless.mjs', { settings: null }, place),
      await run('harmless.mjs', { settings: settingsFor(root) }, place),
    ]
    expect(read).toEqual(alone)
    expect(answerOf(read)).toMatchObject({ hostile: 'Error: among traps', touched: 0, left: true })
  })

  test.each(['exception', 'rejection'])(
    'lets a process die of an %s as ever, and its crash file has them',
    async (kind) => {
      const crash_capture_path = join(root, `crashes-${kind}`)
      const alone = await run('crash.mjs', { shop, kind, settings: null }, place)
      const settings = settingsFor(root, { ...ROOMY, crash_capture_path })
      const watched = await run('crash.mjs', { shop, kind, settings }, place)
      if (kind === 'exception') expect(watched).toEqual(alone)
      else expect(withoutExcerpt(watched)).toEqual(withoutExcerpt(alone))
      expect(watched.code).toBe(1)
      const [file = ''] = readdirSync(crash_capture_path)
      const [newest] = JSON.parse(readFileSync(join(crash_capture_path, file), 'utf8').split('\n')[1] ?? '').kept
      const [{ variables }] = newest.context.local_variables
      if (kind === 'exception') expect(variables).toMatchObject({ discount: 1000, reduced: -36 })
      else expect(variables).toMatchObject({ order: { id: 9 }, kind, card: '[FILTERED]' })
    },
  )

  test('is left to a debugger that is attached, with one line that says so', async () => {
    const { code, stdout, stderr } = await run('limits.mjs', { settings: settingsFor(root), task: 'off' }, { ...place, flags: ['--inspect=127.0.0.1:0'] }) // biome-ignore format: one run
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ read: null, dropped: { local_variables_off: 1 } })
    expect(DENIED.exec(stderr)?.[1]).toBe('a debugger is attached to the process')
    expect(stderr.match(/\[faultboard\]/g)).toHaveLength(1)
  })

  test('is given up when a debugger comes, which keeps its breakpoints', async () => {
    const end = await run('limits.mjs', { settings: settingsFor(root), task: 'attached' }, place)
    expect(JSON.parse(end.stdout)).toMatchObject({ before: 1, meanwhile: null, dropped: { local_variables_off: 1 } })
    expect(DENIED.exec(end.stderr)?.[1]).toBe('a debugger is attached to the process')
  })

  test.skipIf(runtime.name === 'Node.js 20')(
    'is off where permissions forbid it, with one line that says so',
    async () => {
      const flags = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons', '--no-warnings']
      const { code, stdout, stderr } = await run('limits.mjs', { settings: settingsFor(root), task: 'off' }, { ...place, flags }) // biome-ignore format: one run
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(DENIED) })
      expect(DENIED.exec(stderr)?.[1]).toBe('the permission model of the process denies it')
      expect(JSON.parse(stdout)).toMatchObject({ read: null })
    },
  )

  // Below Node.js 24 the embedded SQLite cannot be asked in a worker thread, and so not what was recorded.
  test.runIf(runtime.name === 'Node.js 24')('is done in a worker thread for what is thrown there', async () => {
    const orders = { settings: settingsFor(root), task: 'stopped' }
    expect(answerOf(await run('worker.mjs', orders, place))).toMatchObject({ read: 6 })
  })

  test('does not so much as load the inspector while it is off', async () => {
    const settings = settingsFor(root, {})
    expect(answerOf(await run('limits.mjs', { settings, task: 'off' }, place))).toMatchObject({
      read: null,
      is_loaded: false,
    })
  })
})

/**
 * V8 reads the stack of whatever it stops at. From then on Node.js cannot find the line of a rejected promise any more,
 * and quotes one of its own above the stack.
 */
function withoutExcerpt({ stderr, ...end }: End): End {
  return { ...end, stderr: stderr.slice(stderr.indexOf('\nError: ')) }
}

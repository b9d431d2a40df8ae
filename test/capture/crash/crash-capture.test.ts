import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, trackerAt } from '../../support/tracker.js'
import {
  type CrashSetup,
  countsAfterNextStart,
  createSetup,
  filesIn,
  pendingFiles,
  run,
  runTrackedAndUntracked,
  runUntracked,
} from '../fixtures/child-processes.js'

const SMALL_HEAP = ['--max-old-space-size=20']

describeEachDatabase(
  'crash capture',
  (database) => {
    test('writes a private file in the spool format', async () => {
      const setup = await crashSetup()
      await run('exit', { how: 'timer_throw', settings: setup.settings })
      const [name = '', ...others] = filesIn(setup.crash_path)
      expect(others).toEqual([])
      expect(name).toMatch(/^crash-\d{15}-[0-9a-f-]{36}\.v2\.ndjson$/)
      expect(statSync(join(setup.crash_path, name)).mode & 0o777).toBe(0o600)
      expect(statSync(setup.crash_path).mode & 0o777).toBe(0o700)
      const [head = '', group = ''] = readFileSync(join(setup.crash_path, name), 'utf8').split('\n')
      expect(JSON.parse(head)).toMatchObject({ application_name: 'shop', group_count: 1 })
      expect(JSON.parse(group).kept[0]).toMatchObject({
        error_type: 'OrderLost',
        causes: [{ message: 'the root' }],
        context: { source: 'uncaught_exception', unhandled: true },
      })
    })

    test('stores request, user, tags and breadcrumbs without secrets', async () => {
      const setup = await crashSetup({ enable_breadcrumbs: true })
      await run('crash-in-request', { settings: setup.settings })
      expect(filesIn(setup.crash_path).map((name) => name.slice(0, 6))).toEqual(['crash-'])
      const text = readFileSync(join(setup.crash_path, filesIn(setup.crash_path)[0] ?? ''), 'utf8')
      expect(text).not.toContain('hunter2')
      const [newest] = JSON.parse(text.split('\n')[1] ?? '').kept
      expect(newest).toMatchObject({ user_id: '7', request_url: expect.stringContaining('/orders?') })
      expect(newest.context).toMatchObject({
        tags: { shop: 'north' },
        breadcrumbs: [{ message: 'looked at the cart' }],
      })
    })

    test('records the caller of process.exit and the exit code', async () => {
      const setup = await crashSetup()
      await run('exit', { how: 'exit_1', settings: setup.settings })
      const text = readFileSync(join(setup.crash_path, filesIn(setup.crash_path)[0] ?? ''), 'utf8')
      const { kept, backtraces } = JSON.parse(text.split('\n')[1] ?? '')
      const [newest] = kept
      expect(newest).toMatchObject({ error_type: 'ProcessExit', message: 'The process exited with code 1' })
      expect(backtraces[newest.backtrace][0]).toMatch(/bail.*exit\.mjs/)
      expect(newest.context.context).toMatchObject({ exit_code: 1 })
    })

    test('converts a fatal error report to an OutOfMemory error', async () => {
      const setup = await crashSetup()
      const untracked = await runUntracked('exit', { how: 'out_of_memory' }, { node: SMALL_HEAP })
      const secret = { SHOP_PASSWORD: 'hunter2' }
      const end = await run(
        'exit',
        { how: 'out_of_memory', settings: setup.settings },
        { node: SMALL_HEAP, env: secret },
      )
      expect([end.code, end.signal]).toEqual([untracked.code, untracked.signal])
      const [report = ''] = filesIn(setup.crash_path).filter((name) => name.startsWith('report.'))
      expect(readFileSync(join(setup.crash_path, report), 'utf8')).toContain('hunter2')
      expect(await countsAfterNextStart(setup, { ...crashSettings(setup), detect_unclean_shutdown: true })).toEqual({
        OutOfMemory: 1,
      })
      expect(filesIn(setup.crash_path)).toEqual([])
      const { tracker } = trackerAt(setup)
      const [error] = await tracker.Queries.ErrorsList.call()
      const found = JSON.stringify(await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 }))
      expect(error).toMatchObject({ severity: 'critical', message: expect.stringContaining('out of memory') })
      expect(found).toContain('usedMemory')
      expect(found).toContain('OOMErrorHandler')
      expect(found).not.toContain('hunter2')
    })

    for (const [how, end] of [
      ['abort', 'SIGABRT'],
      ['sigkill', 'SIGKILL'],
      ['sigterm', 'SIGTERM'],
    ] as const) {
      test(`records an unclean shutdown by ${how} with detect_unclean_shutdown`, async () => {
        const setup = await crashSetup()
        const tracked = await run('exit', { how, settings: setup.settings })
        expect(tracked.signal).toBe(end)
        expect(tracked.signal).toBe((await run('exit', { how })).signal)
        expect(await countsAfterNextStart(setup, { ...crashSettings(setup), detect_unclean_shutdown: true })).toEqual({
          UncleanShutdown: 1,
        })
      })

      test(`records no unclean shutdown by ${how} without detect_unclean_shutdown`, async () => {
        const setup = await crashSetup()
        await run('exit', { how, settings: setup.settings })
        expect(await countsAfterNextStart(setup, crashSettings(setup))).toEqual({})
        expect(filesIn(setup.crash_path)).toEqual([])
      })
    }

    for (const how of ['survives_and_is_killed', 'survives_and_is_killed_at_once']) {
      test(`counts an error once in a process that ${how}`, async () => {
        const setup = await crashSetup()
        expect(await runTrackedAndUntracked(how, setup.settings)).toMatchObject({ signal: 'SIGKILL' })
        expect(await countsAfterNextStart(setup, crashSettings(setup))).toEqual({ OrderLost: 1 })
      })
    }

    test('records an unclean shutdown of a process that survived an error', async () => {
      const setup = await crashSetup()
      await run('exit', { how: 'survives_and_is_killed', settings: setup.settings })
      expect(await countsAfterNextStart(setup, { ...crashSettings(setup), detect_unclean_shutdown: true })).toEqual({
        OrderLost: 1,
        UncleanShutdown: 1,
      })
    })

    test('removes the file of a handled error once it is in the database', async () => {
      const setup = await crashSetup()
      await run('exit', { how: 'survives', settings: setup.settings })
      expect(filesIn(setup.crash_path)).toEqual([])
      expect(filesIn(setup.spool_path)).toEqual([])
      expect(await countsAfterNextStart(setup, crashSettings(setup))).toEqual({ OrderLost: 1 })
    })

    test('sets unreadable files aside without deleting them', async () => {
      const setup = await crashSetup()
      mkdirSync(setup.crash_path, { mode: 0o700 })
      const writeFile = (name: string, text: string) => writeFileSync(join(setup.crash_path, name), text)
      writeFile('crash-000000000000001-broken.ndjson', '{"version":1,')
      writeFile('crash-000000000000002-large.ndjson', 'x'.repeat(300 * 1024))
      writeFile('report.20260101.000000.1.0.001.json', '{"header":')
      writeFile('unrelated.txt', 'untouched')
      expect(await countsAfterNextStart(setup, crashSettings(setup), { wait: onlyLeaves('unrelated.txt') })).toEqual({})
      expect(filesIn(setup.crash_path).sort()).toEqual([
        'crash-000000000000001-broken.ndjson.failed',
        'crash-000000000000002-large.ndjson.failed',
        'report.20260101.000000.1.0.001.json.failed',
        'unrelated.txt',
      ])
    })

    test('ignores a diagnostic report that the host wrote', async () => {
      const setup = await crashSetup()
      mkdirSync(setup.crash_path, { mode: 0o700 })
      const name = 'report.20260101.000000.1.0.001.json'
      writeFileSync(
        join(setup.crash_path, name),
        JSON.stringify({ header: { trigger: 'API', event: 'JavaScript API' } }),
      )
      const { tracker } = trackerAt(setup, crashSettings(setup))
      await tracker.ready()
      await tracker.shutdown()
      expect(filesIn(setup.crash_path)).toEqual([name])
    })

    test('falls back to the spool folder if the crash folder is full or not writable', async () => {
      const fullSetup = await crashSetup()
      mkdirSync(fullSetup.crash_path, { mode: 0o700 })
      for (let i = 0; i < 50; i++) writeFileSync(join(fullSetup.crash_path, `crash-${i}-x.ndjson`), '')
      await run('exit', { how: 'timer_throw', settings: fullSetup.settings })
      expect(filesIn(fullSetup.crash_path)).toHaveLength(50)
      expect(filesIn(fullSetup.spool_path)).toHaveLength(1)

      const setup = await createSetup(database, { crash_capture_path: '/dev/null/nowhere' })
      expect(await run('exit', { how: 'timer_throw', settings: setup.settings })).toMatchObject({ code: 1 })
      expect(await countsAfterNextStart(setup)).toEqual({ OrderLost: 1 })
    })

    test('writes no report with environment variables to a folder that others can read', async () => {
      const setup = await crashSetup()
      mkdirSync(setup.crash_path)
      chmodSync(setup.crash_path, 0o755)
      const { tracker, lines } = trackerAt(setup, crashSettings(setup))
      expect(process.report.reportOnFatalError).toBe(false)
      expect(lines.join()).toContain('chmod 700')
      await tracker.shutdown()
    })

    test('records crashes with enable_error_subscriber off', async () => {
      const setup = await crashSetup({ enable_error_subscriber: false })
      await run('exit', { how: 'timer_throw', settings: setup.settings })
      expect(await countsAfterNextStart(setup, crashSettings(setup))).toEqual({ OrderLost: 1 })
    })

    async function crashSetup(settings = {}): Promise<CrashSetup> {
      const setup = await createSetup(database, settings)
      return { ...setup, settings: { ...setup.settings, ...crashSettings(setup) } }
    }
  },
  { except: ['postgres', 'mysql'] },
)

function crashSettings({ crash_path }: CrashSetup) {
  return { crash_capture_path: crash_path }
}

function onlyLeaves(name: string) {
  return async ({ crash_path }: CrashSetup) =>
    eventually(
      () => pendingFiles(crash_path).every((file) => file === name),
      'all other files are imported or set aside',
    )
}

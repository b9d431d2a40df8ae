import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, trackerAt } from '../../support/tracker.js'
import {
  countsAfterNextStart,
  dieTwice,
  filesIn,
  run,
  runAlone,
  type Scene,
  setScene,
  waiting,
} from '../fixtures/deaths.js'

const SMALL_HEAP = ['--max-old-space-size=20']

describeEachDatabase(
  'crash capture',
  (database) => {
    test('writes a file of its own that only this user may read, in the format of the spool', async () => {
      const scene = await crashScene()
      await run('death', { how: 'timer_throw', settings: scene.settings })
      const [name = '', ...others] = filesIn(scene.crash_path)
      expect(others).toEqual([])
      expect(name).toMatch(/^crash-\d{15}-[0-9a-f-]{36}\.v2\.ndjson$/)
      expect(statSync(join(scene.crash_path, name)).mode & 0o777).toBe(0o600)
      expect(statSync(scene.crash_path).mode & 0o777).toBe(0o700)
      const [head = '', group = ''] = readFileSync(join(scene.crash_path, name), 'utf8').split('\n')
      expect(JSON.parse(head)).toMatchObject({ application_name: 'shop', group_count: 1 })
      expect(JSON.parse(group).kept[0]).toMatchObject({
        error_type: 'OrderLost',
        causes: [{ message: 'the root' }],
        context: { source: 'uncaught_exception', unhandled: true },
      })
    })

    test('keeps request, user, tags and breadcrumbs, and no secret', async () => {
      const scene = await crashScene({ enable_breadcrumbs: true })
      await run('death-in-request', { settings: scene.settings })
      expect(filesIn(scene.crash_path).map((name) => name.slice(0, 6))).toEqual(['crash-'])
      const text = readFileSync(join(scene.crash_path, filesIn(scene.crash_path)[0] ?? ''), 'utf8')
      expect(text).not.toContain('hunter2')
      const [newest] = JSON.parse(text.split('\n')[1] ?? '').kept
      expect(newest).toMatchObject({ user_id: '7', request_url: expect.stringContaining('/orders?') })
      expect(newest.context).toMatchObject({
        tags: { shop: 'north' },
        breadcrumbs: [{ message: 'looked at the cart' }],
      })
    })

    test('names the caller of process.exit, and the code', async () => {
      const scene = await crashScene()
      await run('death', { how: 'exit_1', settings: scene.settings })
      const text = readFileSync(join(scene.crash_path, filesIn(scene.crash_path)[0] ?? ''), 'utf8')
      const { kept, backtraces } = JSON.parse(text.split('\n')[1] ?? '')
      const [newest] = kept
      expect(newest).toMatchObject({ error_type: 'ProcessExit', message: 'The process exited with code 1' })
      expect(backtraces[newest.backtrace][0]).toMatch(/bail.*death\.mjs/)
      expect(newest.context.context).toMatchObject({ exit_code: 1 })
    })

    test('makes an OutOfMemory of the report of a process that ran out of memory', async () => {
      const scene = await crashScene()
      const alone = await runAlone('death', { how: 'out_of_memory' }, { node: SMALL_HEAP })
      const secret = { SHOP_PASSWORD: 'hunter2' }
      const end = await run(
        'death',
        { how: 'out_of_memory', settings: scene.settings },
        { node: SMALL_HEAP, env: secret },
      )
      expect([end.code, end.signal]).toEqual([alone.code, alone.signal])
      const [report = ''] = filesIn(scene.crash_path).filter((name) => name.startsWith('report.'))
      expect(readFileSync(join(scene.crash_path, report), 'utf8')).toContain('hunter2')
      expect(await countsAfterNextStart(scene, { ...crash(scene), detect_unclean_shutdown: true })).toEqual({
        OutOfMemory: 1,
      })
      expect(filesIn(scene.crash_path)).toEqual([])
      const { tracker } = trackerAt(scene)
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
      test(`finds a process that ${how} has ended, when it is asked to`, async () => {
        const scene = await crashScene()
        const watched = await run('death', { how, settings: scene.settings })
        expect(watched.signal).toBe(end)
        expect(watched.signal).toBe((await run('death', { how })).signal)
        expect(await countsAfterNextStart(scene, { ...crash(scene), detect_unclean_shutdown: true })).toEqual({
          UncleanShutdown: 1,
        })
      })

      test(`says nothing of a process that ${how} has ended, when it is not asked to`, async () => {
        const scene = await crashScene()
        await run('death', { how, settings: scene.settings })
        expect(await countsAfterNextStart(scene, crash(scene))).toEqual({})
        expect(filesIn(scene.crash_path)).toEqual([])
      })
    }

    for (const how of ['lives_on_and_is_killed', 'lives_on_and_is_killed_at_once']) {
      test(`counts an error once of a process that ${how}`, async () => {
        const scene = await crashScene()
        expect(await dieTwice(how, scene.settings)).toMatchObject({ signal: 'SIGKILL' })
        expect(await countsAfterNextStart(scene, crash(scene))).toEqual({ OrderLost: 1 })
      })
    }

    test('still notices that a process is killed which has survived an error', async () => {
      const scene = await crashScene()
      await run('death', { how: 'lives_on_and_is_killed', settings: scene.settings })
      expect(await countsAfterNextStart(scene, { ...crash(scene), detect_unclean_shutdown: true })).toEqual({
        OrderLost: 1,
        UncleanShutdown: 1,
      })
    })

    test('removes the file of an error that the host has survived, once it is in the database', async () => {
      const scene = await crashScene()
      await run('death', { how: 'lives_on', settings: scene.settings })
      expect(filesIn(scene.crash_path)).toEqual([])
      expect(filesIn(scene.spool_path)).toEqual([])
      expect(await countsAfterNextStart(scene, crash(scene))).toEqual({ OrderLost: 1 })
    })

    test('sets aside what cannot be read, and never deletes it', async () => {
      const scene = await crashScene()
      mkdirSync(scene.crash_path, { mode: 0o700 })
      const put = (name: string, text: string) => writeFileSync(join(scene.crash_path, name), text)
      put('crash-000000000000001-broken.ndjson', '{"version":1,')
      put('crash-000000000000002-large.ndjson', 'x'.repeat(300 * 1024))
      put('report.20260101.000000.1.0.001.json', '{"header":')
      put('somebody-elses.txt', 'untouched')
      expect(await countsAfterNextStart(scene, crash(scene), { wait: isEmptyBut('somebody-elses.txt') })).toEqual({})
      expect(filesIn(scene.crash_path).sort()).toEqual([
        'crash-000000000000001-broken.ndjson.failed',
        'crash-000000000000002-large.ndjson.failed',
        'report.20260101.000000.1.0.001.json.failed',
        'somebody-elses.txt',
      ])
    })

    test('leaves a diagnostic report alone that the host has written for itself', async () => {
      const scene = await crashScene()
      mkdirSync(scene.crash_path, { mode: 0o700 })
      const name = 'report.20260101.000000.1.0.001.json'
      writeFileSync(
        join(scene.crash_path, name),
        JSON.stringify({ header: { trigger: 'API', event: 'JavaScript API' } }),
      )
      const { tracker } = trackerAt(scene, crash(scene))
      await tracker.ready()
      await tracker.shutdown()
      expect(filesIn(scene.crash_path)).toEqual([name])
    })

    test('takes to the spool folder when its own folder is full or cannot be written', async () => {
      const full = await crashScene()
      mkdirSync(full.crash_path, { mode: 0o700 })
      for (let i = 0; i < 50; i++) writeFileSync(join(full.crash_path, `crash-${i}-x.ndjson`), '')
      await run('death', { how: 'timer_throw', settings: full.settings })
      expect(filesIn(full.crash_path)).toHaveLength(50)
      expect(filesIn(full.spool_path)).toHaveLength(1)

      const scene = await setScene(database, { crash_capture_path: '/dev/null/nowhere' })
      expect(await run('death', { how: 'timer_throw', settings: scene.settings })).toMatchObject({ code: 1 })
      expect(await countsAfterNextStart(scene)).toEqual({ OrderLost: 1 })
    })

    test('lets no report with environment variables be written where others may read it', async () => {
      const scene = await crashScene()
      mkdirSync(scene.crash_path)
      chmodSync(scene.crash_path, 0o755)
      const { tracker, lines } = trackerAt(scene, crash(scene))
      expect(process.report.reportOnFatalError).toBe(false)
      expect(lines.join()).toContain('chmod 700')
      await tracker.shutdown()
    })

    test('works with the subscriber switched off', async () => {
      const scene = await crashScene({ enable_error_subscriber: false })
      await run('death', { how: 'timer_throw', settings: scene.settings })
      expect(await countsAfterNextStart(scene, crash(scene))).toEqual({ OrderLost: 1 })
    })

    async function crashScene(more = {}): Promise<Scene> {
      const scene = await setScene(database, more)
      return { ...scene, settings: { ...scene.settings, ...crash(scene) } }
    }
  },
  { except: ['postgres', 'mysql'] },
)

function crash({ crash_path }: Scene) {
  return { crash_capture_path: crash_path }
}

function isEmptyBut(name: string) {
  return async ({ crash_path }: Scene) =>
    eventually(() => waiting(crash_path).every((one) => one === name), 'all is imported or set aside')
}

import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { eventually, freshStorage, withDatabase } from '../../support/tracker.js'
import { faultboard, faultboardProcess, RunningCommand, workingDirectory } from '../faultboard.js'

describeOneDatabase('work', (database) => {
  test('work runs jobs until it is stopped, without dashboard credentials', async () => {
    const { url, spool_path } = await freshStorage(database)
    const env = { FAULTBOARD_SPOOL_PATH: spool_path }
    const work = new RunningCommand(['work', '--database', url], { cwd: await workingDirectory(), env })
    await work.waitForOutput(/Running jobs from .+ \(embedded\)/)
    await withDatabase(url, async ({ read }) => {
      const job = { name: 'cleanup', payload: '{}', state: 'waiting', run_at: 1, created_at: 1 }
      await read
        .insertInto('faultboard_jobs')
        .values({ ...job, attempts: 0, max_attempts: 5 })
        .execute()
      await eventually(
        async () => (await read.selectFrom('faultboard_jobs').select('id').execute()).length === 0,
        'the job ran',
      )
    })
    expect(work.stdout).not.toContain('Stopped.')
    const ended = await work.stop('SIGTERM')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('Stopped.')
  })
})

test('reports missing options and unreachable servers instead of waiting', async () => {
  const cwd = await workingDirectory()
  const bullmq = { FAULTBOARD_JOB_ENGINE: 'bullmq' }
  const withoutUrl = await faultboard(['work'], { cwd, env: bullmq })
  expect(withoutUrl).toMatchObject({ code: 2, stdout: '' })
  expect(withoutUrl.stderr).toContain('redis_url is missing')

  const unreachableRedis = await faultboardProcess(['work'], {
    cwd,
    env: { ...bullmq, FAULTBOARD_REDIS_URL: 'redis://:pass@127.0.0.1:1' },
  })
  expect(unreachableRedis).toMatchObject({ code: 1, stdout: '' })
  expect(unreachableRedis.stderr).toMatch(/Cannot use the job engine bullmq: .+Is its server running/)
  expect(unreachableRedis.stderr).not.toContain('pass')

  const unreachableDatabase = await faultboard(['work', '--database', 'postgres://u:secret@127.0.0.1:1/x'], { cwd })
  expect(unreachableDatabase.stderr).toMatch(
    /^Cannot use postgres:\/\/u:\*\*\*@127.* Is the server running, and are [^\n]*\n$/,
  )

  const withoutDatabase = await faultboard(['work'], { cwd, env: { FAULTBOARD_JOB_ENGINE: 'pg-boss' } })
  expect(withoutDatabase.code).toBe(2)
  expect(withoutDatabase.stderr).toContain('job_database is missing')
})

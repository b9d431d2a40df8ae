import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { eventually, freshPlace, withDatabase } from '../../support/tracker.js'
import { faultboard, folder, Running } from '../faultboard.js'

describeOneDatabase('work', (database) => {
  test('works on jobs until it is stopped, without credentials of the dashboard', async () => {
    const { url, spool_path } = await freshPlace(database)
    const env = { FAULTBOARD_SPOOL_PATH: spool_path }
    const work = new Running(['work', '--database', url], { cwd: await folder(), env })
    await work.says(/Running jobs of .+ \(embedded\)/)
    await withDatabase(url, async ({ read }) => {
      const job = { name: 'cleanup', payload: '{}', state: 'waiting', run_at: 1, created_at: 1 }
      await read
        .insertInto('faultboard_jobs')
        .values({ ...job, attempts: 0, max_attempts: 5 })
        .execute()
      await eventually(
        async () => (await read.selectFrom('faultboard_jobs').select('id').execute()).length === 0,
        'the job was done',
      )
    })
    expect(work.stdout).not.toContain('Stopped.')
    const ended = await work.stop('SIGTERM')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('Stopped.')
  })
})

test('says what is missing instead of waiting for it', async () => {
  const cwd = await folder()
  const bullmq = { FAULTBOARD_JOB_ENGINE: 'bullmq' }
  const unset = await faultboard(['work'], { cwd, env: bullmq })
  expect(unset).toMatchObject({ code: 2, stdout: '' })
  expect(unset.stderr).toContain('redis_url is missing')

  const gone = await faultboard(['work'], {
    cwd,
    env: { ...bullmq, FAULTBOARD_REDIS_URL: 'redis://:pass@127.0.0.1:1' },
  })
  expect(gone).toMatchObject({ code: 1, stdout: '' })
  expect(gone.stderr).toMatch(/Cannot use the job engine bullmq: .+Is its server running/)
  expect(gone.stderr).not.toContain('pass')

  const away = await faultboard(['work', '--database', 'postgres://u:secret@127.0.0.1:1/x'], { cwd })
  expect(away.stderr).toMatch(/^Cannot use postgres:\/\/u:\*\*\*@127.* Is the server running, and are [^\n]*\n$/)

  const none = await faultboard(['work'], { cwd, env: { FAULTBOARD_JOB_ENGINE: 'pg-boss' } })
  expect(none.code).toBe(2)
  expect(none.stderr).toContain('job_database is missing')
})

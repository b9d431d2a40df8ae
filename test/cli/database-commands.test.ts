import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/store/migrations/list.js'
import { describeEachDatabase } from '../support/databases.js'
import { withDatabase } from '../support/tracker.js'
import { CREDENTIALS, faultboard, faultboardProcess, recordErrors, workingDirectory } from './faultboard.js'

const NAMES = Object.keys(MIGRATIONS)
const DAY = 86_400_000

describeEachDatabase('migrate, check and cleanup', (database) => {
  test('migrate, check and cleanup run before and after the migrations, without credentials', async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    const run = (...args: string[]) => faultboard([...args, '--database', url], { cwd })

    const before = await run('migrate', '--status')
    expect(before.code).toBe(3)
    for (const name of NAMES) expect(before.stdout).toMatch(new RegExp(`^${name} +pending$`, 'm'))
    const beforeMigration = await run('check')
    const isFile = database.dialect === 'sqlite'
    expect(beforeMigration.code).toBe(isFile ? 0 : 3)
    expect(beforeMigration.stdout).toMatch(
      isFile ? /^ok +schema +will be created with the database$/m : /^failed +schema +pending: 0001-initial/m,
    )

    const applied = await run('migrate')
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    for (const name of NAMES) expect(applied.stdout).toContain(`  ${name}\n`)
    const again = await run('migrate')
    expect(again.code).toBe(0)
    expect(again.stdout).toMatch(/is up to date\.\n$/)

    const after = await run('migrate', '--status', '--json')
    expect(after.code).toBe(0)
    const status = JSON.parse(after.stdout)
    expect(status.up_to_date).toBe(true)
    expect(status.migrations.map(({ name }: { name: string }) => name)).toEqual(NAMES)
    for (const { applied_at } of status.migrations) expect(applied_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)

    await withDatabase(url, ({ read }) =>
      read
        .insertInto('faultboard_deliveries')
        .values({
          ...{ idempotency_key: '1', channel: 'chat', event: 'new', state: 'failed', attempts: 5, payload: '{}' },
          ...{ last_response: 'connect ECONNREFUSED', created_at: Date.now(), attempted_at: Date.now() },
        })
        .execute(),
    )
    const ready = await run('check')
    expect(ready.stdout).toMatch(
      /^warning +notifications +Channel chat: Failing: the last 5 attempts failed\. .*REFUSED/m,
    )
    expect(ready.code).toBe(0)
    expect(ready.stdout).toMatch(/^ok +database .* is reachable$/m)
    expect(ready.stdout).toMatch(/^ok +schema +up to date/m)
    expect(ready.stdout).toMatch(/^ok +spool .* empty$/m)
    for (const { stdout } of [before, applied, again, after, beforeMigration, ready]) {
      const { password } = URL.canParse(url) ? new URL(url) : { password: '' }
      if (password) expect(stdout).not.toContain(password)
    }
  })

  test('cleanup deletes errors older than the given number of days', async () => {
    const [cwd, url] = [await workingDirectory(), await database.fresh()]
    const run = (...args: string[]) => faultboard([...args, '--database', url], { cwd })
    await recordErrors(
      url,
      { error_type: 'Old', message: 'old', occurred_at: Date.now() - 100 * DAY },
      { error_type: 'Older', message: 'middle', occurred_at: Date.now() - 40 * DAY },
      { error_type: 'Young', message: 'young' },
    )
    expect((await run('cleanup')).stdout).toMatch(/^Deleted 1 error last seen before \d{4}-/)
    const second = await run('cleanup', '--days', '30', '--json')
    expect(second.code).toBe(0)
    expect(JSON.parse(second.stdout).deleted).toBe(1)
    expect(JSON.parse((await run('errors', '--json')).stdout).pagination.total_count).toBe(1)
  })

  test('commands exit with 3 if the schema is missing and is not migrated automatically', async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    for (const command of ['errors', 'cleanup', 'serve']) {
      const { code, stderr } = await faultboard(
        [command, '--database', url, ...(command === 'serve' ? ['--port', '0', '--host', 'nowhere.invalid'] : [])],
        { cwd, env: CREDENTIALS },
      )
      if (database.dialect === 'sqlite') expect(code).toBe(1)
      else expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('Run  npx faultboard migrate') })
    }
  })
})

describe('Unusable database', () => {
  test.each(['postgres://user:secret@127.0.0.1:1/none', 'mysql://user:secret@127.0.0.1:1/none'])(
    'an unusable database is reported by check, migrate and errors: %s',
    async (url) => {
      const cwd = await workingDirectory()
      const checked = await faultboard(['check', '--database', url], { cwd })
      const results = [
        await faultboard(['migrate', '--database', url], { cwd }),
        await faultboard(['errors', '--database', url], { cwd }),
      ]
      expect(checked.code).toBe(1)
      expect(checked.stdout).toMatch(/^failed +database +Cannot use .*ECONNREFUSED/m)
      for (const { code, stderr } of results) {
        expect(code).toBe(1)
        expect(stderr).toContain('Cannot use ')
        expect(stderr).not.toContain('secret')
        expect(stderr).not.toMatch(/^\s+at |Errors are kept/m)
      }
      expect(checked.stdout).not.toContain('secret')
    },
  )

  test('read commands do not create a missing SQLite file', async () => {
    const cwd = await workingDirectory()
    const errors = await faultboard(['errors'], { cwd })
    await faultboard(['migrate', '--status'], { cwd })
    const checked = await faultboard(['check'], { cwd })
    expect(errors.code).toBe(1)
    expect(errors.stderr).toContain(`There is no database ${join(cwd, 'faultboard.sqlite3')} yet`)
    expect(checked.code).toBe(0)
    expect(checked.stdout).toMatch(
      /^ok +database .*faultboard\.sqlite3 does not exist yet; it will be created when the app/m,
    )
    expect(existsSync(join(cwd, 'faultboard.sqlite3'))).toBe(false)
  })

  test('migrate reports that it uses the default database', async () => {
    const cwd = await workingDirectory()
    const withDefault = await faultboard(['migrate'], { cwd })
    expect(withDefault.code).toBe(0)
    expect(withDefault.stderr).toContain(
      'No database is set by --database, FAULTBOARD_DATABASE or a configuration file',
    )
    const withDatabase = await faultboard(['migrate', '--database', 'sqlite:named.sqlite3'], { cwd })
    expect(withDatabase.stderr).toBe('')
  })

  test('check exits with 1 if the folder of the SQLite file is missing', async () => {
    const { code, stdout } = await faultboard(['check', '--database', 'sqlite:no/such/folder/e.sqlite3'], {
      cwd: await workingDirectory(),
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^failed +database .*its folder is missing/m)
  })
})

describe('check', () => {
  test('check exits with 2 for an invalid configuration and lists each problem, also in JSON', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.mjs': 'export default { retention_days: 0, sampling_rate: 7 }',
    })
    const { code, stdout } = await faultboard(['check'], { cwd })
    expect(code).toBe(2)
    expect(stdout).toMatch(/^failed +configuration +sampling_rate must be a number from 0 to 1$/m)
    expect(stdout).toMatch(/^failed +configuration +retention_days must be a whole number/m)
    const { findings, ok } = JSON.parse((await faultboard(['check', '--json'], { cwd })).stdout)
    expect(ok).toBe(false)
    expect(findings).toHaveLength(2)
  })

  test('warns about missing credentials without failing', async () => {
    const cwd = await workingDirectory()
    await faultboard(['migrate'], { cwd })
    const withoutCredentials = await faultboard(['check'], { cwd })
    const withCredentials = await faultboardProcess(['check'], { cwd, env: CREDENTIALS })
    expect(withoutCredentials).toMatchObject({ code: 0, stdout: expect.stringMatching(/^warning +credentials/m) })
    expect(withCredentials).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +credentials/m) })
    expect(withCredentials.stdout).not.toContain(CREDENTIALS.FAULTBOARD_DASHBOARD_PASSWORD)
  })

  test('reports files in the spool folder and whether it is writable', async () => {
    const cwd = await workingDirectory({ blocked: 'not a folder' })
    await faultboard(['migrate'], { cwd })
    await mkdir(join(cwd, 'spool'))
    await writeFile(join(cwd, 'spool/batch-1.ndjson'), 'x'.repeat(10))
    const waiting = await faultboard(['check'], { cwd, env: { FAULTBOARD_SPOOL_PATH: join(cwd, 'spool') } })
    expect(waiting.stdout).toMatch(/^ok +spool .*; 1 batch to import \(10 bytes\)$/m)
    await writeFile(join(cwd, 'spool/batch-2.ndjson.failed'), 'x')
    const unwritable = await faultboard(['check'], { cwd, env: { FAULTBOARD_SPOOL_PATH: join(cwd, 'spool') } })
    expect(unwritable.stdout).toMatch(/^warning +spool .* 1 batch rejected by the database; 1 batch to import$/m)
    const blocked = await faultboard(['check'], { cwd, env: { FAULTBOARD_SPOOL_PATH: join(cwd, 'blocked') } })
    expect(blocked).toMatchObject({ code: 1, stdout: expect.stringMatching(/^failed +spool .*is not writable/m) })
  })
})

test('cleanup reports that retention_days keeps all errors', async () => {
  const cwd = await workingDirectory({ 'faultboard.config.mjs': 'export default { retention_days: null }' })
  await faultboard(['migrate'], { cwd })
  const { code, stdout } = await faultboardProcess(['cleanup'], { cwd })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'Nothing deleted: retention_days is null, which keeps all errors.\n',
  })
})

import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'
import { faultboard, faultboardProcess } from './faultboard.js'

/** Creates a SQLite file with errors that has no connections and no write-ahead log. */
async function createDatabaseFile(cwd: string): Promise<string> {
  const url = `sqlite:${join(cwd, 'source.sqlite3')}`
  const { tracker } = trackerAt({ url, spool_path: join(cwd, 'spool') })
  for (const kind of 'ABCDEFGHIJ') {
    await Promise.all(
      [...'KLMNOPQRST'].map((other) =>
        tracker.Commands.LogError.call({
          error_type: `Kind${kind}${other}`,
          message: 'm',
          backtrace: Array.from(
            { length: 40 },
            (_, i) => `at ${kind}${other}${'x'.repeat(60)} (src/${kind}.js:${i}:1)`,
          ),
        }),
      ),
    )
  }
  await withDatabase(url, ({ read }) => sql`pragma wal_checkpoint(truncate)`.execute(read))
  await tracker.shutdown()
  const file = join(cwd, 'errors.sqlite3')
  copyFileSync(join(cwd, 'source.sqlite3'), file)
  return file
}

test('check reports a damaged SQLite file, and --repair saves a copy and the readable rows', async () => {
  const cwd = temporaryFolder()
  const file = await createDatabaseFile(cwd)
  const run = (...args: string[]) => faultboardProcess(['check', '--database', `sqlite:${file}`, ...args], { cwd })
  const intactCheck = await run()
  expect(intactCheck.stdout).toMatch(/^ok +integrity +.*errors\.sqlite3 is intact$/m)
  expect(intactCheck.code).toBe(0)
  expect((await run('--repair')).stdout).toMatch(/^ok +repair +nothing to repair/m)
  truncateSync(file, Math.floor(statSync(file).size / 2))
  const damaged = await run()
  expect(damaged.code).toBe(1)
  expect(damaged.stdout).toMatch(/^failed +integrity +.*is damaged: .*Run +npx faultboard check --repair$/m)
  const repaired = await run('--repair', '--json')
  expect(repaired.code).toBe(0)
  const { findings } = JSON.parse(repaired.stdout) as { findings: { subject: string; text: string }[] }
  const repair = findings.find(({ subject }) => subject === 'repair')?.text ?? ''
  expect(Number(/^(\d+) rows copied/.exec(repair)?.[1])).toBeGreaterThan(0)
  expect(readdirSync(cwd).filter((name) => name.includes('.damaged-'))).toHaveLength(1)
  expect(readdirSync(cwd).filter((name) => /\.(repair|salvage)-/.test(name))).toEqual([])
  const after = await run()
  expect(after.code).toBe(0)
  const rows = await withDatabase(`sqlite:${file}`, ({ read }) =>
    read.selectFrom('faultboard_errors').select('id').execute(),
  )
  expect(rows.length).toBeGreaterThan(0)
}, 120_000)

test('check --repair refuses a server, an in-memory database, a missing file, a folder and an unknown flag with a clear message', async () => {
  const cwd = temporaryFolder()
  const server = await faultboard(['check', '--repair', '--database', 'postgres://localhost/none'], { cwd })
  expect(server.code).toBe(2)
  expect(server.stderr).toContain('--repair only applies to a SQLite file')
  const missing = await faultboard(['check', '--repair', '--database', 'sqlite:none.sqlite3'], { cwd })
  expect(missing.code).toBe(2)
  expect(missing.stderr).toMatch(/none\.sqlite3 does not exist/)
  const memory = await faultboard(['check', '--repair', '--database', 'sqlite::memory:'], { cwd })
  expect(memory.code).toBe(2)
  expect(memory.stderr).toContain('needs no repair')
  mkdirSync(join(cwd, 'folder'))
  const folder = await faultboard(['check', '--repair', '--database', 'sqlite:folder'], { cwd })
  expect(folder.code).toBe(1)
  expect(folder.stdout).toMatch(/Cannot read .*folder .*Check that it is a readable and writable file/)
  writeFileSync(join(cwd, 'errors.sqlite3'), '')
  const unknown = await faultboard(['check', '--fix'], { cwd })
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('--fix')
})

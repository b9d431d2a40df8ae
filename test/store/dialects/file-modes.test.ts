import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../support/tracker.js'

/** Records with and without a database, takes a dump with all files, and crashes. */
const HOST = `
import { createTracker } from '${pathToFileURL(resolve('dist/index.js'))}'
const [, , folder] = process.argv
const common = { dashboard_username: 'a', dashboard_password: 'b', crash_capture_path: folder + '/crash' }
const away = createTracker({ ...common, database: 'postgres://unknown@127.0.0.1:1/none', spool_path: folder + '/spool' }).start()
await away.Commands.LogError.call({ error_type: 'Away', message: 'm' })
const here = createTracker({
  ...common,
  database: 'sqlite:' + folder + '/errors.sqlite3',
  spool_path: folder + '/own-spool',
  enable_diagnostic_dump: true,
  enable_heap_snapshots: true,
  diagnostic_dump_path: folder + '/dumps',
  async_logging: true,
}).start()
await here.Commands.LogError.call({ error_type: 'Here', message: 'm' })
await here.Commands.CaptureDiagnosticDump.call({ report: true, cpu_profile_ms: 20, heap_snapshot: true })
await here.flush()
setTimeout(() => { throw new Error('the host crashes') })
`

describe.skipIf(process.platform === 'win32')('file modes', () => {
  test('creates data files readable by their owner only without a umask', { timeout: 120_000 }, () => {
    const folder = temporaryFolder()
    const program = join(temporaryFolder(), 'host.mjs')
    writeFileSync(program, HOST)
    const run = (...args: string[]) =>
      spawnSync('sh', ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, ...args], { encoding: 'utf8' })
    expect(run(program, folder).stderr).toContain('the host crashes')
    const databaseFiles = readdirSync(folder).filter((name) => name.includes('.sqlite3'))
    expect(databaseFiles.sort()).toEqual(['', '-shm', '-wal'].map((ending) => `errors.sqlite3${ending}`))
    for (const name of databaseFiles) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    const main = resolve('dist/cli/main.js')
    const database = `sqlite:${folder}/errors.sqlite3`
    mkdirSync(join(folder, 'exports'))
    for (const args of [
      ['export', join(folder, 'exports/errors.ndjson'), '--database', database],
      ['export', join(folder, 'exports/errors.csv'), '--database', database, '--format', 'csv'],
    ]) {
      const { status, stderr } = run(main, ...args)
      expect([args[1], status, stderr]).toEqual([args[1], 0, expect.any(String)])
    }
    const modes = filesBelow(folder).map((path) => `${path} ${(statSync(join(folder, path)).mode & 0o777).toString(8)}`)
    for (const part of ['spool/', 'crash/', 'dumps/', 'exports/errors.ndjson', 'exports/errors.csv'])
      expect(modes.join('\n')).toContain(part)
    for (const ending of ['.heapsnapshot', '.cpuprofile']) expect(modes.join('\n')).toContain(ending)
    expect(modes.filter((line) => !line.endsWith(' 600'))).toEqual([])
    for (const name of ['spool', 'crash', 'dumps/faultboard-dumps'])
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700)
  })
})

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}

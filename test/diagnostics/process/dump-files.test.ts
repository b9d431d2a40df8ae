import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type DumpFile,
  dumpFolder,
  findFile,
  keepFile,
  MAX_FILES,
  removeFiles,
  streamFile,
} from '../../../src/diagnostics/dumps/dump-files.js'
import { refuseDanger } from '../../../src/diagnostics/dumps/heap-snapshot.js'
import { NOON, temporaryFolder } from '../../support/tracker.js'

type Place = Parameters<typeof keepFile>[0]

let clock = NOON

function place(diagnostic_dump_path: string | null = null): Place {
  const spool = { folder: join(temporaryFolder(), 'spool') }
  return { config: { diagnostic_dump_path, project_root: '/srv/app' }, spool, now: () => clock++ } as unknown as Place
}

const content = (text: string) => (path: string) => writeFile(path, text)

describe('the files of dumps', () => {
  test('lie beside the spool folder, or where diagnostic_dump_path says from the root of the project', () => {
    const beside = place()
    expect(dumpFolder(beside)).toBe(`${beside.spool.folder}-dumps`)
    expect(dumpFolder(place('var/dumps'))).toBe('/srv/app/var/dumps/faultboard-dumps')
  })

  test('are private, under names of ours, and read back as they were written', async () => {
    const here = place()
    const file = await keepFile(here, 'cpu_profile', content('{"nodes":[]}'))
    expect(file).toMatchObject({ kind: 'cpu_profile', size_bytes: 12, hostname: hostname() })
    expect(file.name).toMatch(/^dump-\d+-[0-9a-f]{16}\.cpuprofile$/)
    expect(statSync(dumpFolder(here)).mode & 0o777).toBe(0o700)
    expect(statSync(join(dumpFolder(here), file.name)).mode & 0o777).toBe(0o600)
    const found = await findFile(here, file)
    expect(await new Response(streamFile(found?.path ?? '')).text()).toBe('{"nodes":[]}')
  })

  test('are bounded in number: the oldest go', async () => {
    const here = place()
    const files: DumpFile[] = []
    for (let i = 0; i < MAX_FILES + 3; i++) files.push(await keepFile(here, 'cpu_profile', content(String(i))))
    expect(readdirSync(dumpFolder(here)).sort()).toEqual(files.slice(3).map(({ name }) => name))
    expect(await findFile(here, files[0] as DumpFile)).toBeNull()
  })

  test('appear whole or not at all', async () => {
    const here = place()
    const fails = keepFile(here, 'heap_snapshot', async (path) => {
      writeFileSync(path, 'half')
      throw new Error('no room')
    })
    await expect(fails).rejects.toThrow('no room')
    expect(readdirSync(dumpFolder(here))).toEqual([])
  })

  test.each([
    '../secret.txt',
    '/etc/passwd',
    'dump-1-0000000000000000.cpuprofile/../../secret.txt',
    'dump-1-0000000000000000.cpuprofile\0',
    'DUMP-1-0000000000000000.cpuprofile',
    '',
  ])('are neither found nor removed under a name that is not ours: %j', async (name) => {
    const here = place()
    await keepFile(here, 'cpu_profile', content('x'))
    const secret = join(dumpFolder(here), '..', 'secret.txt')
    writeFileSync(secret, 'keep me')
    const file: DumpFile = { kind: 'cpu_profile', name, size_bytes: 1, hostname: hostname() }
    expect(await findFile(here, file)).toBeNull()
    await removeFiles(here, [file])
    expect(readFileSync(secret, 'utf8')).toBe('keep me')
  })

  test('are not followed where somebody put a link in their place', async () => {
    const here = place()
    const file = await keepFile(here, 'cpu_profile', content('x'))
    const name = 'dump-1-0000000000000000.cpuprofile'
    symlinkSync('/etc/hostname', join(dumpFolder(here), name))
    expect(await findFile(here, { ...file, name })).toBeNull()
    await expect(new Response(streamFile(join(dumpFolder(here), name))).text()).rejects.toThrow()
  })

  test('are refused where the folder is a link of somebody else', async () => {
    const here = place()
    const elsewhere = temporaryFolder()
    symlinkSync(elsewhere, dumpFolder(here))
    await expect(keepFile(here, 'cpu_profile', content('x'))).rejects.toThrow('Set diagnostic_dump_path')
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('leave a folder that was there as it is, and use one of their own inside', async () => {
    const shared = temporaryFolder()
    chmodSync(shared, 0o1777)
    const here = place(shared)
    const file = await keepFile(here, 'cpu_profile', content('x'))
    expect(statSync(shared).mode & 0o7777).toBe(0o1777)
    expect(statSync(join(shared, 'faultboard-dumps')).mode & 0o777).toBe(0o700)
    expect(await findFile(here, file)).toMatchObject({ path: join(shared, 'faultboard-dumps', file.name) })
  })

  test('are refused where others may enter their folder, whose mode stays', async () => {
    const here = place()
    mkdirSync(dumpFolder(here), { recursive: true })
    chmodSync(dumpFolder(here), 0o755)
    await expect(keepFile(here, 'cpu_profile', content('x'))).rejects.toThrow('others may enter it')
    expect(statSync(dumpFolder(here)).mode & 0o777).toBe(0o755)
    expect(readdirSync(dumpFolder(here))).toEqual([])
  })

  test('leave alone what else lies in their folder', async () => {
    const here = place()
    mkdirSync(dumpFolder(here), { recursive: true, mode: 0o700 })
    writeFileSync(join(dumpFolder(here), 'notes.txt'), 'mine')
    for (let i = 0; i < MAX_FILES + 1; i++) await keepFile(here, 'cpu_profile', content('x'))
    expect(readdirSync(dumpFolder(here))).toContain('notes.txt')
  })
})

describe('a heap snapshot', () => {
  const MB = 1024 * 1024
  const room = { heap_bytes: 50 * MB, memory_bytes: 4096 * MB, disk_bytes: 4096 * MB }

  test('is taken where there is room', () => {
    expect(() => refuseDanger(room)).not.toThrow()
  })

  test.each([
    [{ ...room, heap_bytes: 900 * MB }, 'the heap holds 900 MB, for which the process would stand still for 30 to 60'],
    [{ ...room, memory_bytes: 100 * MB }, 'it would need about 164 MB of memory, and 100 MB are free'],
    [{ ...room, disk_bytes: 100 * MB }, 'it would need about 164 MB on disk, and 100 MB are free'],
  ])('is refused with the reason where it would be a danger', (danger, reason) => {
    expect(() => refuseDanger(danger)).toThrow(reason)
  })
})

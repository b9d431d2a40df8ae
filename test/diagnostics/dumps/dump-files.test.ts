import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type DumpFile,
  dumpFolder,
  findFile,
  MAX_FILES,
  removeFiles,
  storeFile,
  streamFile,
} from '../../../src/diagnostics/dumps/dump-files.js'
import { assertSafe } from '../../../src/diagnostics/dumps/heap-snapshot.js'
import { NOON, temporaryFolder } from '../../support/tracker.js'

type FolderContext = Parameters<typeof storeFile>[0]

let clock = NOON

function folderContext(diagnostic_dump_path: string | null = null): FolderContext {
  const spool = { folder: join(temporaryFolder(), 'spool') }
  return {
    config: { diagnostic_dump_path, project_root: '/srv/app' },
    spool,
    now: () => clock++,
  } as unknown as FolderContext
}

const content = (text: string) => (path: string) => writeFile(path, text)

describe('dump files', () => {
  test('dump files are stored next to the spool folder or in diagnostic_dump_path', () => {
    const context = folderContext()
    expect(dumpFolder(context)).toBe(`${context.spool.folder}-dumps`)
    expect(dumpFolder(folderContext('var/dumps'))).toBe('/srv/app/var/dumps/faultboard-dumps')
  })

  test('dump files are private, have generated names and are read back unchanged', async () => {
    const context = folderContext()
    const file = await storeFile(context, 'cpu_profile', content('{"nodes":[]}'))
    expect(file).toMatchObject({ kind: 'cpu_profile', size_bytes: 12, hostname: hostname() })
    expect(file.name).toMatch(/^dump-\d+-[0-9a-f]{16}\.cpuprofile$/)
    expect(statSync(dumpFolder(context)).mode & 0o777).toBe(0o700)
    expect(statSync(join(dumpFolder(context), file.name)).mode & 0o777).toBe(0o600)
    const found = await findFile(context, file)
    expect(await new Response(streamFile(found?.path ?? '')).text()).toBe('{"nodes":[]}')
  })

  test('dump files are limited in number, and the oldest are deleted', async () => {
    const context = folderContext()
    const files: DumpFile[] = []
    for (let i = 0; i < MAX_FILES + 3; i++) files.push(await storeFile(context, 'cpu_profile', content(String(i))))
    expect(readdirSync(dumpFolder(context)).sort()).toEqual(files.slice(3).map(({ name }) => name))
    expect(await findFile(context, files[0] as DumpFile)).toBeNull()
  })

  test('dump files are written atomically', async () => {
    const context = folderContext()
    const result = storeFile(context, 'heap_snapshot', async (path) => {
      writeFileSync(path, 'half')
      throw new Error('no room')
    })
    await expect(result).rejects.toThrow('no room')
    expect(readdirSync(dumpFolder(context))).toEqual([])
  })

  test.each([
    '../secret.txt',
    '/etc/passwd',
    'dump-1-0000000000000000.cpuprofile/../../secret.txt',
    'dump-1-0000000000000000.cpuprofile\0',
    'DUMP-1-0000000000000000.cpuprofile',
    '',
  ])('dump files are neither found nor removed under an invalid name: %j', async (name) => {
    const context = folderContext()
    await storeFile(context, 'cpu_profile', content('x'))
    const secret = join(dumpFolder(context), '..', 'secret.txt')
    writeFileSync(secret, 'keep me')
    const file: DumpFile = { kind: 'cpu_profile', name, size_bytes: 1, hostname: hostname() }
    expect(await findFile(context, file)).toBeNull()
    await removeFiles(context, [file])
    expect(readFileSync(secret, 'utf8')).toBe('keep me')
  })

  test('dump files are not read through a symbolic link', async () => {
    const context = folderContext()
    const file = await storeFile(context, 'cpu_profile', content('x'))
    const name = 'dump-1-0000000000000000.cpuprofile'
    symlinkSync('/etc/hostname', join(dumpFolder(context), name))
    expect(await findFile(context, { ...file, name })).toBeNull()
    await expect(new Response(streamFile(join(dumpFolder(context), name))).text()).rejects.toThrow()
  })

  test('dump files are rejected if the folder is a symbolic link', async () => {
    const context = folderContext()
    const elsewhere = temporaryFolder()
    symlinkSync(elsewhere, dumpFolder(context))
    await expect(storeFile(context, 'cpu_profile', content('x'))).rejects.toThrow('Set diagnostic_dump_path')
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('dump files use a subfolder of a shared folder without changing its mode', async () => {
    const shared = temporaryFolder()
    chmodSync(shared, 0o1777)
    const context = folderContext(shared)
    const file = await storeFile(context, 'cpu_profile', content('x'))
    expect(statSync(shared).mode & 0o7777).toBe(0o1777)
    expect(statSync(join(shared, 'faultboard-dumps')).mode & 0o777).toBe(0o700)
    expect(await findFile(context, file)).toMatchObject({ path: join(shared, 'faultboard-dumps', file.name) })
  })

  test('dump files are rejected if other users can access the folder', async () => {
    const context = folderContext()
    mkdirSync(dumpFolder(context), { recursive: true })
    chmodSync(dumpFolder(context), 0o755)
    await expect(storeFile(context, 'cpu_profile', content('x'))).rejects.toThrow('other users can access it')
    expect(statSync(dumpFolder(context)).mode & 0o777).toBe(0o755)
    expect(readdirSync(dumpFolder(context))).toEqual([])
  })

  test('dump files do not affect other files in the folder', async () => {
    const context = folderContext()
    mkdirSync(dumpFolder(context), { recursive: true, mode: 0o700 })
    writeFileSync(join(dumpFolder(context), 'notes.txt'), 'mine')
    for (let i = 0; i < MAX_FILES + 1; i++) await storeFile(context, 'cpu_profile', content('x'))
    expect(readdirSync(dumpFolder(context))).toContain('notes.txt')
  })
})

describe('a heap snapshot', () => {
  const MB = 1024 * 1024
  const resources = { heapBytes: 50 * MB, freeMemoryBytes: 4096 * MB, freeDiskBytes: 4096 * MB }

  test('a heap snapshot is allowed with sufficient memory and disk space', () => {
    expect(() => assertSafe(resources)).not.toThrow()
  })

  test.each([
    [{ ...resources, heapBytes: 900 * MB }, 'a heap of 900 MB would block the process for 30 to 60 seconds'],
    [{ ...resources, freeMemoryBytes: 100 * MB }, 'it needs about 164 MB of memory, but only 100 MB is free'],
    [{ ...resources, freeDiskBytes: 100 * MB }, 'it needs about 164 MB on disk, but only 100 MB is free'],
  ])('a heap snapshot is rejected with the reason if it endangers the process', (unsafe, reason) => {
    expect(() => assertSafe(unsafe)).toThrow(reason)
  })
})

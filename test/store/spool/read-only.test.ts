import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifiedCounts } from '../../support/stored-counts.js'
import { eventually, spoolIsEmpty, temporaryFolder, trackerAt } from '../../support/tracker.js'

/** A folder on a disk. On an in-memory file system, an open file can be written although it is read-only. */
const DISK = '/var/tmp'

/**
 * Applies to root and to open files, unlike permissions. Leaves out -shm, because SQLite maps it into memory and Linux
 * kills a process that writes to such a file. Returns whether the file system supports it.
 */
function setReadOnly(folder: string, isReadOnly: boolean): boolean {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('-shm'),
  )
  const paths = [...files.map(({ name }) => join(folder, name)), folder]
  return spawnSync('chattr', [isReadOnly ? '+i' : '-i', ...paths]).status === 0
}

/** Returns null if files in use cannot be made read-only here. */
function folderOnDisk(): string | null {
  const folder = mkdtempSync(join(DISK, 'faultboard-test-'))
  onTestFinished(() => {
    setReadOnly(folder, false)
    rmSync(folder, { recursive: true, force: true })
  })
  const probe = openSync(join(folder, 'probe'), 'w')
  const isSupported = setReadOnly(folder, true) && !canWrite(probe)
  closeSync(probe)
  setReadOnly(folder, false)
  return isSupported ? folder : null
}

function canWrite(file: number): boolean {
  try {
    return writeSync(file, 'x') === 1
  } catch {
    return false
  }
}

const SKIPPED = 'making files in use read-only needs root and a disk with file attributes'

describe.skipIf(process.platform !== 'linux')('an SQLite file that becomes read-only', () => {
  for (const async_logging of [false, true]) {
    test(`a read-only file leaves errors in the spool, counts them once and is reported on Health, with async_logging ${async_logging}`, async ({
      skip,
    }) => {
      const folder = folderOnDisk()
      if (folder === null) return skip(SKIPPED)
      const { url, log, tracker, health } = start(folder, temporaryFolder(), async_logging)
      await log('Before')
      await tracker.flush()
      setReadOnly(folder, true)
      for (let i = 0; i < 20; i++) expect((await log('During'))?.state).toBe(async_logging ? 'accepted' : 'spooled')
      await eventually(async () => (await tracker.stats()).unavailable_since !== null, 'the outage is noticed')
      expect(await health()).toMatchObject({
        state: 'failing',
        reasons: [{ message: expect.stringMatching(`^${url} has not accepted errors since .*: disk I/O error\\.`) }],
      })
      setReadOnly(folder, false)
      await eventually(() => spoolIsEmpty(tracker), 'the errors are imported')
      await tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop During': 20 })
      expect(await health()).toMatchObject({ state: 'ok', reasons: [] })
    })
  }

  test('an SQLite file that becomes read-only is written by a process that started while it was read-only', async ({
    skip,
  }) => {
    const folder = folderOnDisk()
    if (folder === null) return skip(SKIPPED)
    const earlier = start(folder, temporaryFolder(), false)
    await earlier.log('Before')
    setReadOnly(folder, true)
    const { url, log, tracker } = start(folder, temporaryFolder(), false)
    expect((await log('During'))?.state).toBe('spooled')
    setReadOnly(folder, false)
    await eventually(() => spoolIsEmpty(tracker), 'the error is imported')
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop During': 1 })
  })

  test('acknowledges no error if the spool folder is also read-only', async ({ skip }) => {
    const folder = folderOnDisk()
    if (folder === null) return skip(SKIPPED)
    const { url, log, tracker, health } = start(folder, join(folder, 'spool'), false)
    expect((await log('Before'))?.state).toBe('recorded')
    setReadOnly(folder, true)
    for (let i = 0; i < 20; i++) expect(await log('During')).toBeNull()
    expect((await tracker.stats()).dropped).toMatchObject({ spool_unwritable: 20 })
    expect(await health()).toMatchObject({ state: 'failing' })
    setReadOnly(folder, false)
    await eventually(async () => (await log('After'))?.state === 'recorded', 'errors are recorded again')
    expect((await verifiedCounts(url)).counts).toMatchObject({ 'shop Before': 1, 'shop After': expect.any(Number) })
  })
})

function start(folder: string, spool_path: string, async_logging: boolean) {
  const url = `sqlite:${join(folder, 'errors.sqlite3')}`
  const { tracker, clock } = trackerAt({ url, spool_path }, { async_logging })
  clock.now = null
  const authorization = `Basic ${Buffer.from('admin:correct horse').toString('base64')}`
  const request = new Request('http://host/health.json', { headers: { authorization } })
  return {
    ...{ url, tracker },
    log: (error_type: string) => tracker.Commands.LogError.call({ error_type, message: 'x' }),
    health: async () =>
      (await tracker.handle(request, { base: '', path: '/health.json', remote_address: '127.0.0.1' })).json(),
  }
}

import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../../src/store/dialects/sqlite-library.js'
import { eventually, spoolIsEmpty, temporaryFolder, trackerAt } from '../../support/tracker.js'

/** Mounts a small file system. Returns null without the permission to mount. */
function mountSmallDisk(): string | null {
  const folder = temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return null
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

function fill(file: string): void {
  for (const size of [65_536, 4096, 512]) {
    try {
      for (;;) writeFileSync(file, 'x'.repeat(size), { flag: 'a' })
    } catch {
      // No space is left for blocks of this size.
    }
  }
}

describe('a full disk', () => {
  test('a full disk is a single outage that ends when space is available again', { timeout: 120_000 }, async ({
    skip,
  }) => {
    const folder = mountSmallDisk()
    if (folder === null) return skip('mounting a tmpfs needs root')
    const storage = { url: `sqlite:${join(folder, 'errors.sqlite3')}`, spool_path: join(folder, 'spool') }
    const { tracker, lines, clock } = trackerAt(storage)
    clock.now = null
    await tracker.ready()
    let number = 0
    const record = () =>
      tracker.Commands.LogError.call({
        error_type: `Large${number++}`,
        message: 'x',
        context: { text: Array.from({ length: 500 }, (_, i) => `${number} ${i} line`) },
      })
    for (let i = 0; i < 3; i++) expect(await record()).toMatchObject({ state: 'recorded' })
    // The log of SQLite restarts. Then a small transaction fits, but a batch of many errors does not.
    const { DatabaseSync } = await loadSqlite()
    const other = new DatabaseSync(join(folder, 'errors.sqlite3'))
    other.exec('pragma wal_checkpoint(restart)')
    other.close()

    const filler = join(folder, 'filler')
    fill(filler)
    const recordMany = () => Promise.all(Array.from({ length: 100 }, record))
    const isUnavailable = async () => {
      await recordMany()
      fill(filler)
      return (await tracker.stats()).unavailable_since !== null
    }
    await eventually(isUnavailable, 'the database is unavailable')
    // Long enough for several probes.
    for (const end = performance.now() + 2500; performance.now() < end; ) {
      expect(await recordMany()).toEqual(Array(100).fill(null))
      await pause(100)
    }
    expect(lines.filter((line) => line.includes('The database is available again'))).toEqual([])
    expect(lines.filter((line) => line.includes('Errors are kept'))).toEqual([])

    rmSync(filler)
    await eventually(() => spoolIsEmpty(tracker), 'the outage ends')
    expect(await record()).toMatchObject({ state: 'recorded' })
    expect(lines.filter((line) => line.includes('The database is available again'))).toHaveLength(1)
  })
})

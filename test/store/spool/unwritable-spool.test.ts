import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { eventually, temporaryFolder, trackerAt } from '../../support/tracker.js'

const asRoot = process.getuid?.() === 0

describeOneDatabase('a spool folder that cannot be written', (database) => {
  const firstLine = async (spool_path: string) => {
    const { tracker, lines } = trackerAt({ url: await database.fresh(), spool_path })
    expect((await tracker.Commands.LogError.call({ error_type: 'A', message: 'x' }))?.state).toBe('recorded')
    await eventually(() => lines.length > 0, 'a line is logged')
    return lines[0]
  }

  test('an unwritable spool folder is reported after the start, while the database accepts errors', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(await firstLine(join(file, 'spool'))).toBe(
      `[faultboard] ${file}/spool is not writable (ENOTDIR): errors would be lost while the database is unreachable. Set spool_path to another folder.\n`,
    )
  })

  test.skipIf(!asRoot)(
    `a spool folder is reported if it belongs to another user${asRoot ? '' : ' (skipped: needs root)'}`,
    async () => {
      const folder = join(temporaryFolder(), 'spool')
      mkdirSync(folder)
      chownSync(folder, 12_345, 12_345)
      expect(await firstLine(folder)).toContain(`${folder} does not belong to the current user: errors would be lost`)
    },
  )
})

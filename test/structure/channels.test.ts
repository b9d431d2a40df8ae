import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHANNEL_NAMES } from '../../src/notifications/channels/channels.js'
import { OPTIONS } from '../../src/options.js'

test('only the file of a channel contains its name, so that a new channel needs no other code', () => {
  const name = new RegExp(`['"](${CHANNEL_NAMES.join('|')})['"]`)
  const files = ['src/notifications', 'src/dashboard/pages/notifications', 'src/health'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(folder, file)),
  )
  const naming = files.filter((file) => name.test(readFileSync(file, 'utf8')))
  expect(naming.sort()).toEqual(
    CHANNEL_NAMES.map((channel) => `src/notifications/channels/${channel.replaceAll('_', '-')}.ts`).sort(),
  )
})

test('every channel has a default threshold', () => {
  expect(Object.keys(OPTIONS.severity_thresholds.default).sort()).toEqual([...CHANNEL_NAMES].sort())
})

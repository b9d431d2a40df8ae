import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { wrapMethod } from '../../../src/capture/breadcrumbs/wrap-method.js'
import { describeEachDatabase } from '../../support/databases.js'
import { CREDENTIALS, freshPlace, temporaryFolder } from '../../support/tracker.js'

interface Printed {
  status: number | null
  stdout: string
  stderr: string
}

function print(orders: object): Printed {
  const file = join(temporaryFolder(), 'orders.json')
  writeFileSync(file, JSON.stringify(orders))
  const program = fileURLToPath(new URL('../fixtures/printing-host.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, file], { encoding: 'utf8' })
  return { status, stdout, stderr: stderr.replace(/\(node:\d+\)/g, '(node)') }
}

describeEachDatabase(
  'breadcrumbs of the console',
  (database) => {
    test('leave the output byte for byte as it is, and tell what was printed', async () => {
      const { url, spool_path } = await freshPlace(database)
      const report = join(temporaryFolder(), 'report.json')
      const settings = { database: url, spool_path, ...CREDENTIALS, enable_breadcrumbs: true }
      const without = print({})
      const printed = print({ settings, report })
      expect(printed).toEqual(without)
      expect(printed.status).toBe(0)

      const { breadcrumbs, answers, restored, ran } = JSON.parse(readFileSync(report, 'utf8'))
      const steps = breadcrumbs.map(({ category, message, metadata }: Record<string, never>) => [
        category,
        message,
        metadata,
      ])
      expect(steps.slice(0, 9)).toEqual([
        ['console', 'plain text of 7, [Object] and more [Array(2)] null undefined 10', { level: 'log' }],
        ['console', 'called without its console', { level: 'info' }],
        ['console', 'token=[FILTERED]', { level: 'warn' }],
        ['console', 'Error: an error Symbol(s) [Function]', { level: 'error' }],
        ['console', '[Object] [Proxy] [Object]', { level: 'debug' }],
        ['console', '', { level: 'log' }],
        ['console', '%', { level: 'log' }],
        ['console', '100% of it', { level: 'log' }],
        ['console', ' styled', { level: 'log' }],
      ])
      expect(steps[9][1]).toHaveLength(500)
      expect(steps.slice(10)).toEqual([
        ['warning', 'Warning: take care', undefined],
        ['deprecation', 'DeprecationWarning: do not do that', { code: 'SHOP2' }],
      ])
      expect(answers).toEqual([null, null, null])
      expect({ restored, ran }).toEqual({ restored: true, ran: false })
    })
  },
  { except: ['postgres', 'mysql'] },
)

test('a wrap that somebody else wrapped stays where it is and passes everything on', () => {
  const seen: string[] = []
  const original = (word: string) => word.toUpperCase()
  const target = { say: original }
  const unwrap = wrapMethod(target, 'say', (inner) => (word: string) => {
    seen.push(word)
    return inner(word)
  })
  const ours = target.say
  expect([ours.name, ours.length]).toEqual(['original', 1])
  const theirs = (word: string) => `${ours(word)}!`
  target.say = theirs
  expect(target.say('one')).toBe('ONE!')
  unwrap()
  expect(target.say).toBe(theirs)
  expect(target.say('two')).toBe('TWO!')
  expect(seen).toEqual(['one'])
})

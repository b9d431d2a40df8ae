import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { wrapMethod } from '../../../src/capture/breadcrumbs/wrap-method.js'
import { describeEachDatabase } from '../../support/databases.js'
import { CREDENTIALS, freshStorage, temporaryFolder } from '../../support/tracker.js'

interface HostOutput {
  status: number | null
  stdout: string
  stderr: string
}

function runHost(input: object): HostOutput {
  const file = join(temporaryFolder(), 'input.json')
  writeFileSync(file, JSON.stringify(input))
  const program = fileURLToPath(new URL('../fixtures/printing-host.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, file], { encoding: 'utf8' })
  return { status, stdout, stderr: stderr.replace(/\(node:\d+\)/g, '(node)') }
}

describeEachDatabase(
  'console breadcrumbs',
  (database) => {
    test('records printed text without changing the output', async () => {
      const { url, spool_path } = await freshStorage(database)
      const report = join(temporaryFolder(), 'report.json')
      const settings = { database: url, spool_path, ...CREDENTIALS, enable_breadcrumbs: true }
      const without = runHost({})
      const printed = runHost({ settings, report })
      expect(printed).toEqual(without)
      expect(printed.status).toBe(0)

      const { breadcrumbs, returnValues, restored, isAccessed } = JSON.parse(readFileSync(report, 'utf8'))
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
      expect(returnValues).toEqual([null, null, null])
      expect({ restored, isAccessed }).toEqual({ restored: true, isAccessed: false })
    })
  },
  { except: ['postgres', 'mysql'] },
)

test('keeps a wrapper that other code has wrapped', () => {
  const seen: string[] = []
  const original = (word: string) => word.toUpperCase()
  const target = { say: original }
  const unwrap = wrapMethod(target, 'say', (inner) => (word: string) => {
    seen.push(word)
    return inner(word)
  })
  const wrapper = target.say
  expect([wrapper.name, wrapper.length]).toEqual(['original', 1])
  const outerWrapper = (word: string) => `${wrapper(word)}!`
  target.say = outerWrapper
  expect(target.say('one')).toBe('ONE!')
  unwrap()
  expect(target.say).toBe(outerWrapper)
  expect(target.say('two')).toBe('TWO!')
  expect(seen).toEqual(['one'])
})

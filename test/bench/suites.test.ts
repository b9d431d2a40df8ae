import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const LOAD_EVERY_SUITE = `
  import { SUITES } from './bench/suites.mjs'
  for (const suite of Object.values(SUITES)) console.log(typeof (await suite.load()))
`

test('every suite loads without the packages of the peers', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', LOAD_EVERY_SUITE], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(new Set(stdout.trim().split('\n'))).toEqual(new Set(['function']))
})

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { displayAddress, displayFlags, displayNodeOptions } from '../../../src/diagnostics/dumps/node-flags.js'

const ROOT = '/srv/app'

test('removes code and folders from flags', () => {
  expect(
    displayFlags(
      [
        '--max-old-space-size=4096',
        '--import=/srv/app/src/boot.mjs',
        '--require',
        '/home/eve/hooks/trace.cjs',
        '--import',
        'file:///srv/app/x.mjs',
        '--import=data:text/javascript,steal("hunter2")',
        '--allow-fs-read=/srv/app,/etc/secrets',
        '--loader=ts-node/esm',
        '--env-file=C:\\eve\\prod.env',
        '--enable-source-maps',
      ],
      ROOT,
    ),
  ).toEqual([
    '--max-old-space-size=4096',
    '--import=src/boot.mjs',
    '--require',
    'trace.cjs',
    '--import',
    'x.mjs',
    '--import=[HIDDEN]',
    '--allow-fs-read=.,secrets',
    '--loader=ts-node/esm',
    '--env-file=prod.env',
    '--enable-source-maps',
  ])
})

test.each([['-e'], ['--eval'], ['-p'], ['--print'], ['-pe']])('hides the code of %s', (flag) => {
  const code = 'console.log(JSON.stringify(process.execArgv)) // hunter2'
  const boot = pathToFileURL(join(import.meta.dirname, 'running.ts')).href
  const output =
    execFileSync(process.execPath, ['--no-warnings', flag, code], { encoding: 'utf8' }).split('\n')[0] ?? ''
  const flags = displayFlags([...JSON.parse(output), `--import=${boot}`], import.meta.dirname)
  expect(flags).toEqual(['--no-warnings', flag, '[HIDDEN]', '--import=running.ts'])
})

test('shortens the path of a database file and keeps other addresses', () => {
  expect(displayAddress('sqlite:/srv/app/data/errors.sqlite3', ROOT)).toBe('sqlite:data/errors.sqlite3')
  expect(displayAddress("sqlite:/var/lib/errors.db (the host's handle)", ROOT)).toBe(
    "sqlite:errors.db (the host's handle)",
  )
  for (const address of ['sqlite::memory:', 'postgres://ada@db:5432/shop'])
    expect(displayAddress(address, ROOT)).toBe(address)
})

test('parses NODE_OPTIONS like Node.js', () => {
  expect(displayNodeOptions('--require "/srv/secret place/boot.cjs"  --trace-warnings -r=/srv/app/a.js', ROOT)).toBe(
    '--require boot.cjs --trace-warnings -r=a.js',
  )
  expect(displayNodeOptions('', ROOT)).toBe('')
  expect(displayNodeOptions('--require "/srv/unclosed place', ROOT)).not.toContain('/srv')
})

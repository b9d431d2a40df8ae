import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
// @ts-expect-error The scripts have no types.
import { readArguments } from '../../bench/arguments.mjs'

const ACCEPTED = { suites: { capture: { quick: true, large: false }, pages: { quick: false, large: true } } }

describe('readArguments', () => {
  test('selects an on-demand suite only by its name', () => {
    expect(Object.keys(readArguments([], null).modes)).not.toContain('harm')
    expect(Object.keys(readArguments(['harm'], null).modes)).toEqual(['harm'])
  })

  test('selects all other suites and one pass by default', () => {
    const { modes, repeat, all_databases } = readArguments([], null)
    expect(Object.keys(modes)).toContain('recovery')
    expect(modes.capture).toEqual({ quick: false, large: false })
    expect({ repeat, all_databases }).toEqual({ repeat: 1, all_databases: true })
  })

  test('repeats the accepted suites in their mode with --check', () => {
    const { modes, repeat } = readArguments(['--check'], ACCEPTED)
    expect(modes).toEqual({ capture: { quick: true, large: false }, pages: { quick: false, large: true } })
    expect(repeat).toBe(5)
    expect(Object.keys(readArguments(['pages', '--check', '--repeat', '3'], ACCEPTED).modes)).toEqual(['pages'])
  })

  test.each([
    [['--check', '--accept'], 'Use either --check or --accept. Check first, then accept the changes you want.'],
    [['--check', '--quick'], '--check repeats the accepted run and its mode. Remove --quick and --large.'],
    [['write', '--check'], 'No accepted results for write. Create them with npm run bench -- write --accept.'],
    [['--check', '--repeat', '1'], 'Noise is measured by repetition. Use --repeat 2 or more.'],
    [['--repeat', '0'], '--repeat must be a positive integer.'],
    [['--fast'], "Unknown option '--fast'. List the options with npm run bench -- --help."],
    [['--repeat'], "Option '--repeat <value>' argument missing. List the options with npm run bench -- --help."],
    [
      ['--repeat', '--quick'],
      "Option '--repeat' argument is ambiguous. List the options with npm run bench -- --help.",
    ],
    [['--databases', 'oracle'], 'Unknown database oracle. Databases: sqlite, postgres, mysql'],
  ])('rejects %j with the next step', (words, sentence) => {
    expect(() => readArguments(words, ACCEPTED)).toThrow(sentence)
  })

  test('rejects an unknown suite and lists the known suites', () => {
    expect(() => readArguments(['captures', '--check'], ACCEPTED)).toThrow(/^Unknown suite captures. Suites: capture, /)
  })

  test('rejects --check without accepted results', () => {
    const sentence = 'bench/accepted.json is missing. Create it with npm run bench -- --accept.'
    expect(() => readArguments(['--check'], null)).toThrow(sentence)
  })
})

test('the benchmarks exit with 1 and one line for invalid arguments', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/run.mjs', '--check', '--accept'], { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toBe('Use either --check or --accept. Check first, then accept the changes you want.\n')
})

test('the benchmarks list their suites and options with --help', () => {
  const { status, stdout } = spawnSync(process.execPath, ['bench/run.mjs', '--help'], { encoding: 'utf8' })
  expect(status).toBe(0)
  expect(stdout).toMatch(/^Suites: capture, .*, harm$/m)
  for (const option of ['quick', 'large', 'check', 'accept', 'repeat', 'databases', 'json', 'strict']) {
    expect(stdout).toContain(`\n--${option} `)
  }
})

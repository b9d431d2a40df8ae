import { execFileSync, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import { faultboard, faultboardProcess } from '../faultboard.js'

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

const completion = (...args: string[]) => faultboard(['completion', ...args], { cwd: tmpdir() })

describe('faultboard completion', () => {
  let script = ''

  beforeAll(async () => {
    script = (await faultboardProcess(['completion', 'bash'], { cwd: tmpdir() })).stdout
  })

  /** Words that bash suggests for the last word. */
  function suggestions(...words: string[]): string[] {
    const program = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _faultboard; echo "\${COMPREPLY[@]}"`
    const output = execFileSync('bash', ['-c', program, 'bash', 'faultboard', ...words], { encoding: 'utf8' })
    return output.trim().split(' ')
  }

  test.each([
    [['er'], ['errors']],
    [['m'], ['migrate', 'move', 'mcp']],
    [['migrate', '--s'], ['--status']],
    [
      ['sourcemaps', ''],
      ['upload', 'list', 'delete'],
    ],
    [['sourcemaps', 'upload', '--url'], ['--url-prefix']],
    [['unknown', '--'], ['']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', '--help'],
    ],
    [['help', 'mi'], ['migrate']],
    [
      ['help', 'sourcemaps', ''],
      ['upload', 'list', 'delete'],
    ],
    [['help', 'errors', ''], ['']],
    [
      ['errors', '--severity', ''],
      ['critical', 'high', 'medium', 'low'],
    ],
    [['errors', '--sort-direction', '=', 'd'], ['desc']],
    [
      ['errors', '--sort-direction', '='],
      ['asc', 'desc'],
    ],
    [['export', 'x', '--format', 'c'], ['csv']],
    [['notify', '--test', 'ch'], ['chat']],
    [['migrate', '--config', ''], ['']],
    [['import', ''], ['']],
    [['import', '--r'], ['--rejected']],
  ])('bash completes %j to %j', (words, expected) => {
    expect(suggestions(...words)).toEqual(expected)
  })

  test('prints scripts for zsh and fish', async () => {
    expect((await completion('zsh')).stdout).toMatch(/bashcompinit\n_faultboard\(\) \{/)
    const { stdout } = await completion('fish')
    expect(stdout).toContain("complete -c faultboard -n '__fish_seen_subcommand_from migrate' -l status -d 'List all")
  })

  test.skipIf(!isInstalled('fish')).each([
    ['faultboard completion ', ['bash', 'fish', 'zsh']],
    ['faultboard errors --severity ', ['critical', 'high', 'low', 'medium']],
    ['faultboard help mig', ['migrate']],
    ['faultboard sourcemaps ', ['delete', 'list', 'upload']],
  ])('fish completes %j to %j', async (line, expected) => {
    const { stdout } = await completion('fish')
    const output = execFileSync('fish', ['-c', `${stdout}\ncomplete -C '${line}'`], { encoding: 'utf8' })
    expect(
      output
        .trim()
        .split('\n')
        .map((suggestion) => suggestion.split('\t')[0]),
    ).toEqual(expected)
  })

  test.skipIf(!isInstalled('zsh'))('zsh reads the script without errors', async () => {
    const { stdout } = await completion('zsh')
    expect(() => execFileSync('zsh', ['-f', '-c', stdout], { stdio: 'pipe' })).not.toThrow()
  })

  test.each([
    [[], 'The name of the shell is missing: use bash, zsh, fish'],
    [['cmd'], '"cmd" is not a supported shell: use bash, zsh, fish'],
  ])('rejects the shell %j with the supported shells', async (args, message) => {
    const { code, stderr } = await completion(...args)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})

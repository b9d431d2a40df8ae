import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultboard, folder } from './faultboard.js'

const ENV = { FAULTBOARD_APPLICATION_NAME: 'from-environment', FAULTBOARD_RETENTION_DAYS: '7' }

/** What `check` says about the configuration. */
async function checked(cwd: string, args: string[] = [], env: Record<string, string> = {}) {
  const { stdout, stderr } = await faultboard(['check', '--json', ...args], { cwd, env })
  if (stdout === '') throw new Error(stderr)
  const { findings } = JSON.parse(stdout) as { findings: { subject: string; state: string; text: string }[] }
  return findings.filter(({ subject }) => subject === 'configuration')
}

describe('a configuration file', () => {
  test.each([
    [
      'faultboard.config.ts',
      "const name: string = 'from-file'\nexport default { application_name: name satisfies string }",
    ],
    [
      'faultboard.config.ts',
      "interface C { application_name?: string }\nexport default (config: C): void => { config.application_name = 'from-file' }",
    ],
    ['faultboard.config.mjs', "export default { application_name: 'from-file' }"],
    ['faultboard.config.mjs', "export default async (config) => { config.application_name = 'from-file' }"],
    ['faultboard.config.js', "module.exports = { application_name: 'from-file' }"],
    ['faultboard.config.js', "module.exports = (config) => { config.application_name = 'from-file' }"],
  ])('%s is read: %s', async (name, text) => {
    const cwd = await folder({ [name]: text })
    expect(await checked(cwd, [], ENV)).toEqual([
      { subject: 'configuration', state: 'ok', text: `${join(cwd, name)}; application from-file` },
    ])
  })

  test('faultboard.config.js is an ES module where the package says so', async () => {
    const cwd = await folder({
      'package.json': '{ "type": "module" }',
      'faultboard.config.js': "export default { application_name: 'from-file' }",
    })
    expect((await checked(cwd))[0]?.text).toContain('application from-file')
  })

  test('--config names another one', async () => {
    const cwd = await folder({
      'faultboard.config.mjs': "export default { application_name: 'the-usual' }",
      'staging.mjs': "export default { application_name: 'staging' }",
    })
    expect((await checked(cwd, ['--config', 'staging.mjs']))[0]?.text).toBe(
      `${join(cwd, 'staging.mjs')}; application staging`,
    )
  })
})

describe('precedence', () => {
  const file = { 'faultboard.config.mjs': "export default { application_name: 'from-file' }" }

  test('the environment is read where the file is silent', async () => {
    expect((await checked(await folder(), [], ENV))[0]?.text).toContain('application from-environment')
  })

  test('the file wins over the environment', async () => {
    expect((await checked(await folder(file), [], ENV))[0]?.text).toContain('application from-file')
  })

  test('a flag wins over both', async () => {
    const args = ['--application-name', 'from-flag']
    expect((await checked(await folder(file), args, ENV))[0]?.text).toContain('application from-flag')
  })

  test('--database wins over both, and its file is meant from the working directory', async () => {
    const cwd = await folder({ 'faultboard.config.mjs': "export default { database: 'sqlite:file.sqlite3' }" })
    const env = { FAULTBOARD_DATABASE: 'sqlite:environment.sqlite3' }
    const flagged = await faultboard(['migrate', '--database', 'sqlite:flag.sqlite3'], { cwd, env })
    const filed = await faultboard(['migrate'], { cwd, env })
    expect(flagged.stdout).toContain(`Applied to sqlite:${join(cwd, 'flag.sqlite3')}`)
    expect(filed.stdout).toContain(`Applied to sqlite:${join(cwd, 'file.sqlite3')}`)
  })
})

describe('a wrong configuration ends with 2 and a sentence', () => {
  test.each([
    ["throw new Error('no vault today')", 'failed with Error: no vault today'],
    ['export default {', 'failed with SyntaxError'],
    ["export default () => { throw new Error('not now') }", 'failed with Error: not now'],
    ['export default 42', 'exports no settings: its default export must be an object'],
    ['export const config = {}', 'exports no settings: its default export must be an object'],
    ['export default [1]', 'exports no settings: its default export must be an object'],
    ['export default () => ({ retention_days: 3 })', 'returns an object, which sets nothing'],
  ])('%s', async (text, sentence) => {
    const cwd = await folder({ 'faultboard.config.mjs': text })
    const { code, stderr } = await faultboard(['migrate'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain(join(cwd, 'faultboard.config.mjs'))
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('a TypeScript file that throws is named too', async () => {
    const cwd = await folder({ 'faultboard.config.ts': "const reason: string = 'no vault'\nthrow new Error(reason)" })
    const { code, stderr } = await faultboard(['errors'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `The configuration file ${join(cwd, 'faultboard.config.ts')} failed with Error: no vault\n`,
    })
  })

  test('reports every problem, wherever the option is set', async () => {
    const cwd = await folder({ 'faultboard.config.mjs': 'export default { retention_dayz: 3, sampling_rate: 2 }' })
    const { code, stderr } = await faultboard(['migrate'], { cwd, env: { FAULTBOARD_ASYNC_LOGGING: 'maybe' } })
    expect(code).toBe(2)
    expect(stderr).toContain('retention_dayz is not an option; did you mean retention_days?')
    expect(stderr).toContain('sampling_rate must be a number from 0 to 1')
    expect(stderr).toContain('FAULTBOARD_ASYNC_LOGGING (option async_logging) must be true or false')
  })

  test.each([
    [['--config', 'nowhere.ts'], 'There is no configuration file'],
    [['--config', '.'], 'is a folder. Specify the configuration file in it.'],
    [['--database', 'errors.sqlite3'], 'database must be sqlite:FILE'],
  ])('%j', async (args, sentence) => {
    const { code, stderr } = await faultboard(['migrate', ...args], { cwd: await folder() })
    expect(code).toBe(2)
    expect(stderr).toContain(sentence)
  })
})

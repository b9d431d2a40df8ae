import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultboard, workingDirectory } from './faultboard.js'

const ENV = { FAULTBOARD_APPLICATION_NAME: 'from-environment', FAULTBOARD_RETENTION_DAYS: '7' }

/** Configuration finding of `check`. */
async function configurationFinding(cwd: string, args: string[] = [], env: Record<string, string> = {}) {
  const { stdout, stderr } = await faultboard(['check', '--json', ...args], { cwd, env })
  if (stdout === '') throw new Error(stderr)
  const { findings } = JSON.parse(stdout) as { findings: { subject: string; state: string; text: string }[] }
  return findings.filter(({ subject }) => subject === 'configuration')
}

describe('Configuration file', () => {
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
    ['faultboard.config.mjs', "export default { applicationName: 'from-file' }"],
    ['faultboard.config.mjs', "export default async (config) => { config.application_name = 'from-file' }"],
    ['faultboard.config.js', "module.exports = { application_name: 'from-file' }"],
    ['faultboard.config.js', "module.exports = (config) => { config.application_name = 'from-file' }"],
  ])('reads %s: %s', async (name, text) => {
    const cwd = await workingDirectory({ [name]: text })
    expect(await configurationFinding(cwd, [], ENV)).toEqual([
      { subject: 'configuration', state: 'ok', text: `${join(cwd, name)}; application from-file` },
    ])
  })

  test('loads faultboard.config.js as an ES module if package.json has type module', async () => {
    const cwd = await workingDirectory({
      'package.json': '{ "type": "module" }',
      'faultboard.config.js': "export default { application_name: 'from-file' }",
    })
    expect((await configurationFinding(cwd))[0]?.text).toContain('application from-file')
  })

  test('reads the file named by --config', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.mjs': "export default { application_name: 'the-usual' }",
      'staging.mjs': "export default { application_name: 'staging' }",
    })
    expect((await configurationFinding(cwd, ['--config', 'staging.mjs']))[0]?.text).toBe(
      `${join(cwd, 'staging.mjs')}; application staging`,
    )
  })
})

test('a command uses the configured database even if enabled is false', async () => {
  const cwd = await workingDirectory()
  const env = { FAULTBOARD_ENABLED: 'false', FAULTBOARD_DATABASE: 'sqlite:shop.sqlite3' }
  expect((await faultboard(['migrate'], { cwd, env })).stdout).toContain('shop.sqlite3')
})

describe('Precedence', () => {
  const file = { 'faultboard.config.mjs': "export default { application_name: 'from-file' }" }

  test('reads the environment for options that the file does not set', async () => {
    expect((await configurationFinding(await workingDirectory(), [], ENV))[0]?.text).toContain(
      'application from-environment',
    )
  })

  test('prefers the configuration file to the environment', async () => {
    expect((await configurationFinding(await workingDirectory(file), [], ENV))[0]?.text).toContain(
      'application from-file',
    )
  })

  test('prefers a flag to the configuration file and the environment', async () => {
    const args = ['--application-name', 'from-flag']
    expect((await configurationFinding(await workingDirectory(file), args, ENV))[0]?.text).toContain(
      'application from-flag',
    )
  })

  test('prefers --database and resolves its path from the working directory', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.mjs': "export default { database: 'sqlite:file.sqlite3' }",
    })
    const env = { FAULTBOARD_DATABASE: 'sqlite:environment.sqlite3' }
    const withFlag = await faultboard(['migrate', '--database', 'sqlite:flag.sqlite3'], { cwd, env })
    const withoutFlag = await faultboard(['migrate'], { cwd, env })
    expect(withFlag.stdout).toContain(`Applied to sqlite:${join(cwd, 'flag.sqlite3')}`)
    expect(withoutFlag.stdout).toContain(`Applied to sqlite:${join(cwd, 'file.sqlite3')}`)
  })
})

describe('Invalid configuration exits with 2 and one message', () => {
  test.each([
    ["throw new Error('vault unavailable')", 'failed with Error: vault unavailable'],
    ['export default {', 'failed with SyntaxError'],
    ["export default () => { throw new Error('not now') }", 'failed with Error: not now'],
    ['export default 42', 'exports no settings: its default export must be an object'],
    ['export const config = {}', 'exports no settings: its default export must be an object'],
    ['export default [1]', 'exports no settings: its default export must be an object'],
    ['export default () => ({ retention_days: 3 })', 'returns an object, which sets nothing'],
  ])('%s', async (text, message) => {
    const cwd = await workingDirectory({ 'faultboard.config.mjs': text })
    const { code, stderr } = await faultboard(['migrate'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain(join(cwd, 'faultboard.config.mjs'))
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('names a TypeScript file that throws', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.ts': "const reason: string = 'vault unavailable'\nthrow new Error(reason)",
    })
    const { code, stderr } = await faultboard(['errors'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `The configuration file ${join(cwd, 'faultboard.config.ts')} failed with Error: vault unavailable\n`,
    })
  })

  test('reports every problem of file and environment', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.mjs': 'export default { retention_dayz: 3, sampling_rate: 2 }',
    })
    const { code, stderr } = await faultboard(['migrate'], { cwd, env: { FAULTBOARD_ASYNC_LOGGING: 'maybe' } })
    expect(code).toBe(2)
    expect(stderr).toContain('retention_dayz is not an option; did you mean retention_days?')
    expect(stderr).toContain('sampling_rate must be a number from 0 to 1')
    expect(stderr).toContain('FAULTBOARD_ASYNC_LOGGING (option async_logging) must be true or false')
  })

  test.each([
    [['--config', 'nowhere.ts'], 'nowhere.ts not found. Check --config'],
    [['--config', '.'], 'is a folder. Specify the configuration file in it.'],
    [['--database', 'errors.sqlite3'], 'database must be sqlite:FILE'],
  ])('%j', async (args, message) => {
    const { code, stderr } = await faultboard(['migrate', ...args], { cwd: await workingDirectory() })
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

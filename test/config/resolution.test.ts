import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigurationError } from '../../src/model/errors.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { TrackerInstance } from '../../src/tracker.js'
import { temporaryFolder } from '../support/tracker.js'

const credentials = { dashboard_username: 'admin', dashboard_password: 'x' }
const resolve = (settings: Settings, env: NodeJS.ProcessEnv = {}) =>
  resolveConfiguration({ ...credentials, ...settings }, env).options

function projectFolder(manifest: object): string {
  const folder = realpathSync(temporaryFolder())
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  return folder
}

describe('the application name', () => {
  test('the application name is taken from the option first', () => {
    const project_root = projectFolder({ name: 'from-manifest' })
    expect(resolve({ application_name: ' shop ', project_root }, { APP_NAME: 'other' }).application_name).toBe('shop')
  })
  test('the application name is taken from the environment variable APP_NAME next', () => {
    const project_root = projectFolder({ name: 'from-manifest' })
    expect(resolve({ project_root }, { APP_NAME: 'from-variable' }).application_name).toBe('from-variable')
    expect(resolve({ project_root }, { APP_NAME: ' ' }).application_name).toBe('from-manifest')
  })
  test("the application name is taken from the host's package.json next, from any subfolder", () => {
    const folder = projectFolder({ name: 'from-manifest', version: '4.5.6' })
    mkdirSync(join(folder, 'src', 'deep'), { recursive: true })
    const { application_name, app_version } = resolve({ project_root: join(folder, 'src', 'deep') })
    expect({ application_name, app_version }).toEqual({ application_name: 'from-manifest', app_version: '4.5.6' })
  })
  test('the application name is the folder name if package.json has no name', () => {
    const project_root = projectFolder({})
    expect(resolve({ project_root }).application_name).toBe(project_root.split('/').at(-1))
  })
  test('the application name is always text that every database accepts', () => {
    const application_name = resolve({ application_name: `a\0\uD800${'x'.repeat(500)}` }).application_name
    expect(application_name).toHaveLength(255)
    expect(application_name.isWellFormed() && !application_name.includes('\0')).toBe(true)
  })
})

test('uses the environment option, or NODE_ENV, or production', () => {
  expect(resolve({ environment: 'staging' }, { NODE_ENV: 'production' }).environment).toBe('staging')
  expect(resolve({}, { NODE_ENV: 'test' }).environment).toBe('test')
  expect(resolve({}).environment).toBe('production')
})

describe('the project root', () => {
  test('the project root is absolute', () =>
    expect(resolve({ project_root: '.' }).project_root).toBe(realpathSync('.')))
  test('the project root is the real folder behind a link, as in stacks', () => {
    const release = projectFolder({ name: 'shop' })
    const current = join(temporaryFolder(), 'current')
    symlinkSync(release, current)
    expect(resolve({ project_root: current }).project_root).toBe(release)
  })
})

test('trusts no proxy by default or if the environment variable is "none"', () => {
  expect(resolve({}).trusted_proxies).toEqual([])
  expect(resolve({}, { FAULTBOARD_TRUSTED_PROXIES: ' none ' }).trusted_proxies).toEqual([])
  expect(() => resolve({}, { FAULTBOARD_TRUSTED_PROXIES: 'none, 10.0.0.1' })).toThrow(/"none" is none of these/)
})

test('accepts severity rules as a Map or a list of pairs and keeps their order', () => {
  const rules = [
    [/a/, 'high'],
    [/b/, 'low'],
  ] as const
  expect(resolve({ custom_severity_rules: new Map(rules) }).custom_severity_rules).toEqual(rules)
  expect(resolve({ custom_severity_rules: rules }).custom_severity_rules).toEqual(rules)
})

test('keeps the default thresholds of omitted channels', () => {
  expect(resolve({ severity_thresholds: { chat: 'high' } }).severity_thresholds).toEqual({
    chat: 'high',
    community_chat: 'low',
    email: 'low',
    incident: 'critical',
    webhook: 'low',
  })
})

describe('a resolved configuration', () => {
  test('a resolved configuration is frozen, including lists and mappings', () => {
    const options = resolve({ ignored_exceptions: ['A'], custom_severity_rules: [[/a/, 'low']] })
    for (const part of [
      options,
      options.ignored_exceptions,
      options.custom_severity_rules,
      options.severity_thresholds,
      options.notification_threshold_alerts,
    ])
      expect(Object.isFrozen(part)).toBe(true)
  })

  test('throws a ConfigurationError that mentions a restart if an option changes after the start', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`
    const tracker = new TrackerInstance({ ...credentials, database }, { env: {} })
    tracker.configure({ sampling_rate: 0.5 })
    tracker.configure((config) => {
      config.retention_days = 30
    })
    tracker.start()
    expect([tracker.config.sampling_rate, tracker.config.retention_days]).toEqual([0.5, 30])
    expect(() => tracker.configure({ sampling_rate: 1 })).toThrow(ConfigurationError)
    expect(() => tracker.configure({ sampling_rate: 1 })).toThrow(/restart/)
    // A host module that is loaded again sets the same options again.
    expect(() => tracker.configure({ ...credentials, sampling_rate: 0.5 })).not.toThrow()
    expect(tracker.config.sampling_rate).toBe(0.5)
    await tracker.shutdown()
  })

  test('rejects a function that returns the options instead of setting them', () => {
    const tracker = new TrackerInstance({}, { env: {} })
    expect(() => tracker.configure(() => ({ retention_days: 5 }))).toThrow(/returns an object, which sets nothing/)
    expect(() => tracker.configure((config) => Object.assign(config, { retention_days: 5 }))).not.toThrow()
  })

  test('rejects an asynchronous function, which may set options after the start', () => {
    const tracker = new TrackerInstance({}, { env: {} })
    expect(() => tracker.configure(async () => {})).toThrow(/is asynchronous.* wait for the values first/)
  })

  test.each([
    ['a URL', 'postgres://localhost/shop'],
    ['a promise', Promise.resolve({})],
    ['a list', []],
    ['null', null],
  ])('rejects %s instead of an object with options', (_, settings) => {
    const problem = /the options must be an object such as \{ database: … \}/
    expect(() => new TrackerInstance({}, { env: {} }).configure(settings as never)).toThrow(problem)
    expect(() => new TrackerInstance(settings as never, { env: {} })).toThrow(problem)
  })

  test('ignores later changes to the settings object', () => {
    const ignored_exceptions = ['A']
    const options = resolve({ ignored_exceptions })
    ignored_exceptions.push('B')
    expect(options.ignored_exceptions).toEqual(['A'])
  })
})

test('refuses to serve a dashboard without credentials', () => {
  expect(() => new TrackerInstance({}, { env: {} }).startDashboard()).toThrow(ConfigurationError)
})

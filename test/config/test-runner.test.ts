import { expect, test } from 'vitest'
import { OPTIONS } from '../../src/config/options.js'
import { resolveConfiguration } from '../../src/config/resolve.js'

const databaseOf = (env: NodeJS.ProcessEnv, settings = {}) =>
  resolveConfiguration(settings, env, OPTIONS).options.database

test.each(['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT', 'MOCHA_WORKER_ID'])(
  'a test run with %s does not use the database file of a developer',
  (variable) => {
    expect(databaseOf({ [variable]: '1' })).toBe('sqlite::memory:')
  },
)

test('a configured database is used in a test run', () => {
  expect(databaseOf({ VITEST: 'true' }, { database: 'sqlite:shop.sqlite3' })).toBe('sqlite:shop.sqlite3')
  expect(databaseOf({ VITEST: 'true', FAULTBOARD_DATABASE: 'sqlite:shop.sqlite3' })).toBe('sqlite:shop.sqlite3')
})

test('NODE_ENV=test is not a test run, because a server may use it', () => {
  expect(databaseOf({ NODE_ENV: 'test' })).toBe('sqlite:faultboard.sqlite3')
})

import { expect, test } from 'vitest'
import { resolveConfiguration } from '../../src/options.js'

const CREDENTIALS = { dashboard_username: 'a', dashboard_password: 'b' }

test('reports an unsupported database together with all other problems', () => {
  const resolve = () => resolveConfiguration({ ...CREDENTIALS, database: {}, sampling_rate: 5 }, {})
  expect(resolve).toThrow(/database must be[\s\S]*sampling_rate must be/)
})

test('warns about a misspelled variable and suggests the most similar one', () => {
  const env = {
    FAULTBOARD_DATABSE: 'x',
    FAULTBOARD_RETENTION_DAY: '3',
    FAULTBOARD_TEST_POSTGRES: 'x',
    FAULTBOARD_DEBUG: '1',
  }
  const { warnings } = resolveConfiguration(CREDENTIALS, env)
  expect(warnings).toEqual([
    'FAULTBOARD_DATABSE is set, but is not the variable of any option; did you mean FAULTBOARD_DATABASE?',
    'FAULTBOARD_RETENTION_DAY is set, but is not the variable of any option; did you mean FAULTBOARD_RETENTION_DAYS?',
  ])
})

test('requires exactly one value per key for a mapping in a variable', () => {
  const resolve = (text: string) =>
    resolveConfiguration(CREDENTIALS, { FAULTBOARD_CLIENT_MAX_REQUESTS_PER_MINUTE: text })
  const wrong =
    'FAULTBOARD_CLIENT_MAX_REQUESTS_PER_MINUTE (option client_max_requests_per_minute) must be written as per_address=…,total=…, each key at most once'
  for (const text of ['per_address=10=5', 'per_address', 'per_address=1,per_address=2', 'per_address=1,']) {
    expect(() => resolve(text), text).toThrow(wrong)
  }
  expect(() => resolve('per_address=')).toThrow('must be')
  expect(resolve(' per_address = 10 ,total=20').options).toMatchObject({
    client_max_requests_per_minute: { per_address: 10, total: 20 },
  })
})

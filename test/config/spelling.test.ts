import { describe, expect, onTestFinished, test } from 'vitest'
import { ConfigurationError } from '../../src/model/errors.js'
import { resolveConfiguration, type Settings, toCanonicalSettings } from '../../src/options.js'
import { createTestTracker } from '../../src/testing/test-tracker.js'
import { TrackerInstance } from '../../src/tracker.js'

const MEMORY = { database: 'sqlite::memory:', runJobs: false }

function tracker(settings: Settings = {}): TrackerInstance {
  const created = new TrackerInstance({ ...MEMORY, ...settings }, { env: {}, write: () => {} })
  onTestFinished(() => created.shutdown())
  return created
}

test('suggests a misspelled option in the spelling of the caller', () => {
  const settings = { retentionDay: 1, retention_dayz: 1 } as Settings
  expect(() => resolveConfiguration(settings, {})).toThrow(
    /retentionDay is not an option; did you mean retentionDays\?[\s\S]*retention_dayz is not an option; did you mean retention_days\?/,
  )
})

test('reports two spellings together with all other problems', () => {
  const settings = { retention_days: 1, retentionDays: 2, samplingRate: 5 }
  expect(() => resolveConfiguration(settings, {})).toThrow(
    /retention_days and retentionDays are[\s\S]*sampling_rate must be/,
  )
})

test('rejects two spellings of a key in a mapping', () => {
  const settings = { severityThresholds: { community_chat: 'low', communityChat: 'high' } } as const
  expect(() => resolveConfiguration(settings, {})).toThrow(
    'severity_thresholds has two values for one key: community_chat and communityChat are two spellings of one name',
  )
})

test('ignores a spelling without a value', () => {
  const resolve = (settings: Settings) => resolveConfiguration(settings, {}).options.retention_days
  expect(resolve({ retention_days: undefined, retentionDays: 2 })).toBe(2)
  expect(resolve({ retention_days: 2, retentionDays: undefined })).toBe(2)
})

test('does not change the object of the host', () => {
  const settings = Object.freeze({ retentionDays: 2 })
  expect(toCanonicalSettings(settings)).toEqual({ retention_days: 2 })
  expect(settings).toEqual({ retentionDays: 2 })
})

test('warns about a severity rule with a string key in camelCase too', () => {
  const { warnings } = resolveConfiguration({ customSeverityRules: new Map([['Payment', 'high']]) }, {})
  expect(warnings).toEqual([expect.stringContaining('custom_severity_rules has the string key "Payment"')])
})

describe('configure', () => {
  test('replaces an earlier setting in the other spelling', () => {
    const { config } = tracker({ retention_days: 1, digestHour: 1 })
      .configure({ retentionDays: 2, digest_hour: 2 })
      .configure({ retention_days: 3 })
    expect(config).toMatchObject({ retention_days: 3, digest_hour: 2 })
  })

  test('passes an object to a function that accepts both spellings', () => {
    const { config } = tracker().configure((given) => {
      given.retentionDays = 2
      given.sampling_rate = 0.5
    })
    expect(config).toMatchObject({ retention_days: 2, sampling_rate: 0.5 })
  })

  test('rejects two spellings in one object', () => {
    const configured = tracker().configure({ retention_days: 1, retentionDays: 1 })
    expect(() => configured.start()).toThrow(ConfigurationError)
  })
})

test('replaces a default of the test tracker in camelCase', () => {
  const created = createTestTracker({ runJobs: true })
  onTestFinished(() => created.shutdown())
  expect(created.config.run_jobs).toBe(true)
})

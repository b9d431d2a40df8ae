import { expect, test } from 'vitest'
import type { ErrorEvent } from '../../../src/model/event.js'
import { OpenBatch } from '../../../src/store/recording/open-batch.js'

const eventIn = (environment: string) =>
  ({
    ...{ hash_signature: 'a', environment, error_type: 'E', message: 'm', severity: 'low', platform: 'API' },
    ...{ app_version: null, git_sha: null, user_id: null, request_url: null, user_agent: null, causes: [] },
    ...{ backtrace: [], signature_place: null, context: {}, occurred_at: 0 },
  }) as unknown as ErrorEvent

test('keeps one group per environment while groups of the same signature are taken', () => {
  const batch = new OpenBatch(10)
  const add = (environment: string) => batch.add(eventIn(environment), () => {})
  const take = (rows: number) => batch.take(rows).map(({ group }) => [group.environment, group.count])
  for (const environment of ['staging', 'production', 'staging', 'production']) add(environment)
  expect(take(0)).toEqual([['staging', 2]])
  for (const environment of ['production', 'staging', 'production']) add(environment)
  expect(batch.size).toBe(5)
  expect(take(100)).toEqual([
    ['production', 4],
    ['staging', 1],
  ])
  expect(batch.size).toBe(0)
})

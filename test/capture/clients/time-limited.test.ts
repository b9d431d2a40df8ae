import { expect, test } from 'vitest'
import { createTimeLimitedRunner } from '../../../src/capture/clients/time-limited.js'

test('rejects queries for a while after a failed query', async () => {
  const runTimeLimited = createTimeLimitedRunner()
  expect(await runTimeLimited(async () => 1)).toBe(1)
  await expect(runTimeLimited(() => Promise.reject(new Error('connection refused')))).rejects.toThrow(
    'connection refused',
  )
  let queries = 0
  await expect(runTimeLimited(async () => ++queries)).rejects.toThrow('did not respond to a recent query')
  expect(queries).toBe(0)
})

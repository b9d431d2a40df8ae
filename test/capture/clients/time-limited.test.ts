import { expect, test } from 'vitest'
import { createTimeLimited } from '../../../src/capture/clients/time-limited.js'

test('rejects queries for a while after a failed query', async () => {
  const timeLimited = createTimeLimited()
  expect(await timeLimited(async () => 1)).toBe(1)
  await expect(timeLimited(() => Promise.reject(new Error('connection refused')))).rejects.toThrow('connection refused')
  let queries = 0
  await expect(timeLimited(async () => ++queries)).rejects.toThrow('did not respond to a recent query')
  expect(queries).toBe(0)
})

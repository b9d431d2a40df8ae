import { expect, test } from 'vitest'
import { createTimeLimited } from '../../../src/capture/clients/time-limited.js'

test('runs no query for a while after one has failed, so that clients do not wait for each', async () => {
  const timeLimited = createTimeLimited()
  expect(await timeLimited(async () => 1)).toBe(1)
  await expect(timeLimited(() => Promise.reject(new Error('connection refused')))).rejects.toThrow('connection refused')
  let queries = 0
  await expect(timeLimited(async () => ++queries)).rejects.toThrow('did not respond a moment ago')
  expect(queries).toBe(0)
})

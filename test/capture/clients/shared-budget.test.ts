import { expect, test } from 'vitest'
import { SharedBudget } from '../../../src/capture/clients/shared-budget.js'
import { harnessesOn } from '../../notifications/delivery-harness.js'
import { describeEachDatabase } from '../../support/databases.js'

describeEachDatabase('budget with an unreachable database', (database) => {
  const openHarness = harnessesOn(database)

  test('uses the limit per process until the database is reachable again', async () => {
    const { context } = await openHarness({})
    let isReachable = false
    const budget = new SharedBudget(
      context,
      {
        ...{ budget: 'client_max_stored_bytes_per_day', periodMs: 86_400_000, share: 10 },
        ...{ limit: 100, localLimit: 30 },
      },
      (query) => (isReachable ? query() : Promise.reject(new Error('unreachable'))),
    )
    const countTaken = async (times: number) => {
      const results = await Promise.all(Array.from({ length: times }, () => budget.take(10)))
      return results.filter(Boolean).length
    }
    expect(await countTaken(5)).toBe(3)
    isReachable = true
    expect(await countTaken(15)).toBe(10)
    expect(await countTaken(1)).toBe(0)
  })
})

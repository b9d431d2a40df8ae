import { expect, test } from 'vitest'
import { SharedBudget } from '../../../src/capture/clients/shared-budget.js'
import { harnessesOn } from '../../notifications/delivery-harness.js'
import { describeEachDatabase } from '../../support/databases.js'

describeEachDatabase('a budget while the database is unreachable', (database) => {
  const openHarness = harnessesOn(database)

  test('uses the limit of a process alone, and the shared one as soon as the database is back', async () => {
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
    const taken = async (times: number) => {
      const answers = await Promise.all(Array.from({ length: times }, () => budget.take(10)))
      return answers.filter(Boolean).length
    }
    expect(await taken(5)).toBe(3)
    isReachable = true
    expect(await taken(15)).toBe(10)
    expect(await taken(1)).toBe(0)
  })
})

import { expect, test, vi } from 'vitest'
import { cachedQuery } from '../../src/analytics/cached-query.js'
import { growth, median, share } from '../../src/analytics/statistics.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { addGroups, listContext } from '../triage/list-context.js'

const slow = <T>(value: T) => new Promise<T>((resume) => setTimeout(() => resume(value), 80))

describeEachDatabase('a page query', (database) => {
  const createContext = async (errors = 100) => {
    const { context } = await listContext(database)
    if (errors > 0) await addGroups(context, errors, (i) => ({ text: `text ${i}` }))
    return context
  }

  test('a page query is not cached on a small database even if it is slow', async () => {
    const context = await createContext(99)
    let runs = 0
    const query = () => cachedQuery(context, 'error count', () => slow(++runs))
    expect(await query()).toEqual({ value: 1, queriedAt: NOON })
    expect(await query()).toEqual({ value: 2, queriedAt: NOON })
  })

  test('a page query is not cached below 5,000 errors if it is fast', async () => {
    const context = await createContext()
    let runs = 0
    const query = () => cachedQuery(context, 'error count', async () => ++runs)
    expect(await query()).toEqual({ value: 1, queriedAt: NOON })
    expect(await query()).toEqual({ value: 2, queriedAt: NOON })
  })

  test('a page query is cached on a large database even if it is fast', async () => {
    const context = await createContext(5000)
    let runs = 0
    const query = () => cachedQuery(context, 'error count', async () => ++runs)
    expect([await query(), await query()]).toEqual(Array(2).fill({ value: 1, queriedAt: NOON }))
  })

  test('a page query is cached per key and database if it is slow', async () => {
    const [context, other] = [await createContext(), await createContext()]
    const query = (key: string, value: string, owner = context) =>
      cachedQuery(owner, key, () => slow(value)).then((result) => result.value)
    expect(await query('a', 'first')).toBe('first')
    expect(await query('a', 'second')).toBe('first')
    expect(await query('b', 'third')).toBe('third')
    expect(await query('a', 'fourth', other)).toBe('fourth')
  })

  test('a page query is shared by concurrent callers', async () => {
    const context = await createContext()
    let runs = 0
    const query = () => cachedQuery(context, 'error count', () => slow(++runs))
    expect(await Promise.all([query(), query(), query()])).toEqual(Array(3).fill({ value: 1, queriedAt: NOON }))
  })

  test('a page query is not cached when it fails', async () => {
    const context = await createContext()
    const fail = () =>
      cachedQuery(context, 'error count', () => slow(0).then(() => Promise.reject(new Error('unreachable'))))
    await expect(fail()).rejects.toThrow('unreachable')
    expect(await cachedQuery(context, 'error count', async () => 5)).toMatchObject({ value: 5 })
  })

  test('a page query is served stale after one minute while it is refreshed, and not after ten minutes', async () => {
    const context = await createContext()
    const clock = vi.spyOn(performance, 'now')
    let [time, runs] = [0, 0]
    clock.mockImplementation(() => time)
    const query = async () => {
      const { value } = await cachedQuery(context, 'error count', async () => {
        time += 1000
        return ++runs
      })
      return value
    }
    expect(await query()).toBe(1)
    time += 59_000
    expect(await query()).toBe(1)
    time += 2000
    expect(await query()).toBe(1)
    await vi.waitFor(async () => expect(await query()).toBe(2))
    time += 11 * 60_000
    expect(await query()).toBe(3)
    clock.mockRestore()
  })
})

test('returns statistics for empty, single and constant values', () => {
  expect([median([]), median([4]), median([4, 1]), median([9, 1, 5])]).toEqual([null, 4, 2.5, 5])
  expect([share(0, 0), share(1, 4)]).toEqual([0, 0.25])
  expect([growth(3, 0), growth(3, 2), growth(0, 2)]).toEqual([null, 0.5, -1])
})

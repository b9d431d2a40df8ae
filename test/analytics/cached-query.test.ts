import { expect, test, vi } from 'vitest'
import { cachedQuery } from '../../src/analytics/cached-query.js'
import { growth, median, share } from '../../src/analytics/statistics.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { addGroups, listContext } from '../triage/list-context.js'

const slowly = <T>(value: T) => new Promise<T>((resume) => setTimeout(() => resume(value), 80))

describeEachDatabase('an answer of a page', (database) => {
  const contextOf = async () => (await listContext(database)).context

  test('is found anew each time while that is quick', async () => {
    const context = await contextOf()
    let asked = 0
    const ask = () => cachedQuery(context, 'how many', async () => ++asked)
    expect(await ask()).toEqual({ value: 1, queriedAt: NOON })
    expect(await ask()).toEqual({ value: 2, queriedAt: NOON })
  })

  test('is kept where there are many errors, however quickly it was found', async () => {
    const context = await contextOf()
    await addGroups(context, 5000, (i) => ({ text: `text ${i}` }))
    let asked = 0
    const ask = () => cachedQuery(context, 'how many', async () => ++asked)
    expect([await ask(), await ask()]).toEqual(Array(2).fill({ value: 1, queriedAt: NOON }))
  })

  test('is kept where it took long, for each question and database by itself', async () => {
    const [context, other] = [await contextOf(), await contextOf()]
    const ask = (question: string, value: string, of = context) =>
      cachedQuery(of, question, () => slowly(value)).then((answer) => answer.value)
    expect(await ask('a', 'first')).toBe('first')
    expect(await ask('a', 'second')).toBe('first')
    expect(await ask('b', 'third')).toBe('third')
    expect(await ask('a', 'fourth', other)).toBe('fourth')
  })

  test('is shared by all who ask meanwhile', async () => {
    const context = await contextOf()
    let asked = 0
    const ask = () => cachedQuery(context, 'how many', () => slowly(++asked))
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill({ value: 1, queriedAt: NOON }))
  })

  test('is not kept when it failed', async () => {
    const context = await contextOf()
    const fail = () => cachedQuery(context, 'how many', () => slowly(0).then(() => Promise.reject(new Error('away'))))
    await expect(fail()).rejects.toThrow('away')
    expect(await cachedQuery(context, 'how many', async () => 5)).toMatchObject({ value: 5 })
  })

  test('is shown once more after a minute while a newer one is found, and no longer after ten', async () => {
    const context = await contextOf()
    const clock = vi.spyOn(performance, 'now')
    let [time, asked] = [0, 0]
    clock.mockImplementation(() => time)
    const ask = async () => {
      const { value } = await cachedQuery(context, 'how many', async () => {
        time += 1000
        return ++asked
      })
      return value
    }
    expect(await ask()).toBe(1)
    time += 59_000
    expect(await ask()).toBe(1)
    time += 2000
    expect(await ask()).toBe(1)
    await new Promise((resume) => setImmediate(resume))
    expect(await ask()).toBe(2)
    time += 11 * 60_000
    expect(await ask()).toBe(3)
    clock.mockRestore()
  })
})

test('the statistics have an answer for nothing, for one and for what never moves', () => {
  expect([median([]), median([4]), median([4, 1]), median([9, 1, 5])]).toEqual([null, 4, 2.5, 5])
  expect([share(0, 0), share(1, 4)]).toEqual([0, 0.25])
  expect([growth(3, 0), growth(3, 2), growth(0, 2)]).toEqual([null, 0.5, -1])
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requiredFeatureCount, similarity, similarityFeatures } from '../../src/model/grouping/similarity.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, trackerAt } from '../support/tracker.js'

const WORDS = ['order', 'payment', 'user', 'stock', 'price', 'email', 'cart', 'refund']
const FRAMES = ['at charge (src/pay.ts:3:1)', 'at total (src/cart.ts:9:2)', 'at send (src/mail.ts:4:4)']

const jaccard = (a: readonly number[], b: readonly number[]) => {
  const shared = a.filter((feature) => b.includes(feature)).length
  return similarity(shared, a.length, b.length)
}

describe('the features of an error', () => {
  test('the features of an error are its own frames without line numbers and its words without variable parts', () => {
    const expected = similarityFeatures('Order 17 of anna@example.org failed', [
      'at pay (src/pay.ts:10:3)',
      'at x (node_modules/y/z.js:1:1)',
    ])
    expect(similarityFeatures('order 99 of bob@example.org failed', ['at pay (src/pay.ts:88:1)'])).toEqual(expected)
    expect(similarityFeatures('order 99 of bob@example.org failed', ['at other (src/pay.ts:88:1)'])).not.toEqual(
      expected,
    )
    expect(similarityFeatures('', [])).toEqual([])
  })

  test('the number of similarity features per error is limited', () => {
    const message = Array.from({ length: 5000 }, (_, i) => `word${String.fromCodePoint(0x4e00 + i)}`).join(' ')
    expect(
      similarityFeatures(
        message,
        Array.from({ length: 500 }, (_, i) => `at f${i} (src/f${i}.ts:1:1)`),
      ).length,
    ).toBeLessThan(61)
  })

  test('the features of an error include enough rare features to find every error above the threshold', () => {
    const set = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(set, set, fc.double({ min: 0.05, max: 1, noNaN: true }), (a, b, threshold) => {
        if (jaccard(a, b) < threshold) return
        const queried = [...a].sort((x, y) => x - y).slice(0, requiredFeatureCount(a.length, threshold))
        expect(queried.some((feature) => b.includes(feature))).toBe(true)
      }),
    )
  })
})

describeEachDatabase('SimilarErrors', (database) => {
  test('matches a comparison with every error at any threshold', async () => {
    const { tracker } = await freshTracker(database)
    const random = fc.sample(
      fc.record({
        words: fc.subarray(WORDS, { minLength: 1, maxLength: 6 }),
        frames: fc.subarray(FRAMES, { minLength: 0, maxLength: 3 }),
      }),
      { numRuns: 40, seed: 11 },
    )
    const logged = []
    for (const [i, { words, frames }] of random.entries()) {
      const [message, backtrace] = [words.join(' '), frames]
      const result = await tracker.Commands.LogError.call({
        error_type: `Type${String.fromCharCode(65 + (i % 26))}${'X'.repeat(i / 26)}Error`,
        message,
        backtrace,
      })
      logged.push({ id: result?.id ?? 0, features: similarityFeatures(message, backtrace) })
    }
    for (const threshold of [0.3, 0.5, 0.7, 1]) {
      for (const { id, features } of logged.slice(0, 8)) {
        const expected = logged
          .filter((other) => other.id !== id && jaccard(features, other.features) >= threshold)
          .map((other) => [other.id, jaccard(features, other.features)])
        const found = await tracker.Queries.SimilarErrors.call({ error_id: id, threshold, limit: 100 })
        const byId = (a: number[], b: number[]) => (a[0] ?? 0) - (b[0] ?? 0)
        expect(found.map(({ error, similarity }) => [error.id, similarity]).sort(byId)).toEqual(expected.sort(byId))
        expect(found.map((match) => match.similarity)).toEqual(
          found.map((match) => match.similarity).sort((a, b) => b - a),
        )
      }
    }
  })

  test('uses a threshold of 0.7, needs ten types and filters by application', async () => {
    const { tracker } = await freshTracker(database)
    const { Commands, Queries } = tracker
    const log = (error_type: string, message: string) => Commands.LogError.call({ error_type, message })
    const first = await log('PaymentError', 'card of the customer was declined by bank')
    await log('ChargeError', 'card of the customer was declined by issuer')
    await log('OtherError', 'card of another user')
    for (let i = 0; i < 6; i++) await log(`Type${'ABCDEF'.charAt(i)}Error`, `nothing alike ${'ABCDEF'.charAt(i)}`)
    const error_id = first?.id ?? 0
    expect(await Queries.SimilarErrors.call({ error_id })).toEqual([])
    await log('TenthError', 'the tenth')
    expect(await Queries.SimilarErrors.call({ error_id })).toMatchObject([
      { error: { error_type: 'ChargeError' }, similarity: 7 / 9 },
    ])
    await expect(Queries.SimilarErrors.call({ error_id, application_id: 99 })).rejects.toMatchObject({
      code: 'not_found',
    })
    const [similar] = await Queries.SimilarErrors.call({ error_id })
    await Commands.BatchDeleteErrors.call({ error_ids: [similar?.error.id ?? 0] })
    expect(await Queries.SimilarErrors.call({ error_id, threshold: 0.75 })).toEqual([])
  })

  test('finds errors of an application despite many similar errors of another', async () => {
    const { tracker, ...storage } = await freshTracker(database)
    const other = trackerAt(storage, { application_name: 'other' }).tracker
    const first = await tracker.Commands.LogError.call({ error_type: 'PaymentError', message: 'card was declined' })
    const second = await tracker.Commands.LogError.call({ error_type: 'ChargeError', message: 'card was declined' })
    const word = (n: number) => [...String(n)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('')
    await Promise.all(
      Array.from({ length: 600 }, (_, i) =>
        other.Commands.LogError.call({ error_type: `Type${word(i)}`, message: 'card was declined' }),
      ),
    )
    const { id: error_id = 0, application_id } =
      (await tracker.Queries.FindError.call({ error_id: first?.id ?? 0 })) ?? {}
    const found = await tracker.Queries.SimilarErrors.call({ error_id, application_id })
    expect(found).toMatchObject([{ error: { id: second?.id }, similarity: 1 }])
  })
})

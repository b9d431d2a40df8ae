import { describe, expect, test } from 'vitest'
import { FrequentNames } from '../../src/model/frequent-names.js'

describe('FrequentNames', () => {
  test('admits the first names, and later names that are frequent', () => {
    const names = new FrequentNames(10)
    for (let i = 0; i < 10; i++) expect(names.admits(`first ${i}`)).toBe(true)
    for (let i = 0; i < 100_000; i++) expect(names.admits(`once ${i}`)).toBe(false)
    const results = Array.from({ length: 20 }, () => names.admits('often'))
    expect(results).toEqual([...Array(9).fill(false), ...Array(11).fill(true)])
    expect(names.admits('first 3')).toBe(true)
  })

  test('admits at most twice the limit', () => {
    const names = new FrequentNames(10)
    const admitted = new Set<string>()
    for (let round = 0; round < 3000; round++) {
      for (let i = 0; i < 100; i++) if (names.admits(`name ${i}`)) admitted.add(`name ${i}`)
    }
    expect(admitted.size).toBeLessThanOrEqual(20)
  })
})

import { describe, expect, test } from 'vitest'
import { FrequentNames } from '../../../src/model/frequent-names.js'
import { pathPattern } from '../../../src/model/requests/path-pattern.js'

describe('the pattern of a path', () => {
  test.each([
    ['/', '/'],
    ['', '/'],
    ['/users/8/orders/2f1c9a3e?page=2', '/users/:id/orders/:id'],
    ['/v1/oauth2/token', '/v1/oauth2/token'],
    ['https://shop.example/cart/12?x#y', '/cart/:id'],
    ['/files/123e4567-e89b-12d3-a456-426614174000', '/files/:id'],
    ['/people/ann%40example.com', '/people/:id'],
    [`/${'a'.repeat(10_000)}`, '/:id'],
    [`/${'a/'.repeat(50)}`, `/${'a/'.repeat(11)}…`],
    ['/مرحبا/سلة', '/مرحبا/سلة'],
  ])('%s is %s', (address, pattern) => {
    expect(pathPattern(address)).toBe(pattern)
  })
})

describe('names that are told apart', () => {
  test('are the first, and later ones that come often', () => {
    const names = new FrequentNames(10)
    for (let i = 0; i < 10; i++) expect(names.admits(`first ${i}`)).toBe(true)
    for (let i = 0; i < 100_000; i++) expect(names.admits(`once ${i}`)).toBe(false)
    const late = Array.from({ length: 20 }, () => names.admits('often'))
    expect(late).toEqual([...Array(9).fill(false), ...Array(11).fill(true)])
    expect(names.admits('first 3')).toBe(true)
  })

  test('are never more than twice as many', () => {
    const names = new FrequentNames(10)
    const admitted = new Set<string>()
    for (let round = 0; round < 3000; round++) {
      for (let i = 0; i < 100; i++) if (names.admits(`name ${i}`)) admitted.add(`name ${i}`)
    }
    expect(admitted.size).toBeLessThanOrEqual(20)
  })
})

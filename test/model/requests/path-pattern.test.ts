import { describe, expect, test } from 'vitest'
import { pathPattern } from '../../../src/model/requests/path-pattern.js'

describe('pathPattern', () => {
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
  ])('converts "%s" to "%s"', (url, pattern) => {
    expect(pathPattern(url)).toBe(pattern)
  })
})

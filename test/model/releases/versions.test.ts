import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareVersions } from '../../../src/model/releases/versions.js'

describe('compareVersions', () => {
  test.each([
    ['1.0.0', '1.0.1'],
    ['2.9.0', '2.10.0'],
    ['v1.2', 'v1.2.1'],
    ['1.2', 'v1.3'],
    ['5.11', '5.12.0'],
    ['1.0.0-alpha', '1.0.0'],
    ['1.0.0-alpha', '1.0.0-alpha.1'],
    ['1.0.0-alpha.1', '1.0.0-alpha.beta'],
    ['1.0.0-beta.2', '1.0.0-beta.11'],
    ['1.0.0-rc.1', '1.0.0'],
    ['20260313', '20260314'],
    ['41', '42'],
    ['1.0.0-rc1', '1.0.0-rc10'],
    ['1.0.0-beta-2', '1.0.0-RC-1'],
    ['1.0.0-canary', '1.0.0'],
    ['1.0.0-canary.20260313.f81f3c2', '1.0.0-canary.20260314.a07d11e'],
    ['1.4.0', '1.4.0-3-gabc1234'],
    ['1.4.0-5-gabc1234', '1.4.0-12-gdef5678'],
    ['1.4.0-12-gdef5678', '1.4.1'],
    ['1.4.0-rc.1', '1.4.0-rc.1-3-gabc1234'],
    ['1.4.0-rc.1-3-gabc1234', '1.4.0'],
    ['1.3.0-f81f3c2', '1.4.0-a07d11e'],
  ])('orders %s before %s', (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0)
    expect(compareVersions(newer, older)).toBeGreaterThan(0)
  })

  test.each([
    ['1.0.0', '1.0.0'],
    ['1.0', '1.0.0'],
    ['v2.1', '2.1.0'],
    ['1.0.0+build.7', '1.0.0+build.8'],
    ['a81f3c2', 'a81f3c2'],
  ])('treats %s and %s as the same release', (a, b) => {
    expect(compareVersions(a, b)).toBe(0)
  })

  test.each([
    ['a81f3c2', 'b07d11e'],
    ['1.0.0', 'a81f3c2'],
    ['8123456', '9123456'],
    ['blue', 'green'],
    ['', '1.0.0'],
    ['release-1', 'release-2'],
    ['1.4.0-f81f3c2', '1.4.0-a07d11e'],
    ['1.4.0-1234567', '1.4.0-2345678'],
    ['1.4.0-f81f3c2', '1.4.0'],
    ['1.4.0-5', '1.4.0'],
    ['1.4.0-build9', '1.4.0-build10'],
    ['1.4.0-canary', '1.4.0-dev'],
    ['20260314', '2.4.0'],
    ['2026.3.14', '20260314'],
  ])('returns null for the incomparable names %s and %s', (a, b) => {
    expect(compareVersions(a, b)).toBeNull()
  })

  test('orders versions antisymmetrically and transitively', () => {
    const version = fc
      .tuple(
        fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
        fc.option(fc.constantFrom('alpha', 'beta.1', 'rc.2', '3')),
      )
      .map(([numbers, preview]) => `${numbers.join('.')}${preview ? `-${preview}` : ''}`)
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        const [ab, bc, ac] = [compareVersions(a, b), compareVersions(b, c), compareVersions(a, c)]
        expect(compareVersions(b, a)).toBe(ab === null || ab === 0 ? ab : -ab)
        if (ab !== null && bc !== null && ac !== null && ab <= 0 && bc <= 0) expect(ac).toBeLessThanOrEqual(0)
      }),
    )
  })

  test('compares long names in linear time', () => {
    expect(compareVersions('1.'.repeat(5000), `1-${'a.'.repeat(5000)}`)).toBeNull()
  })
})

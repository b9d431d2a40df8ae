import { describe, expect, test } from 'vitest'
import {
  compareReleases,
  releaseCommit,
  releaseName,
  releaseVersion,
  sortReleases,
} from '../../../src/model/releases/releases.js'

describe('releaseName', () => {
  test.each([
    ['1.4.0', 'f81f3c2', '1.4.0', 'f81f3c2'],
    ['1.4.0', null, '1.4.0', null],
    [null, 'f81f3c2', 'f81f3c2', null],
    ['1.4.0+45', 'f81f3c2', '1.4.0+45', 'f81f3c2'],
  ])('combines version %s and commit %s reversibly', (app_version, git_sha, version, commit) => {
    const name = releaseName({ app_version, git_sha }) ?? ''
    expect([releaseVersion(name), releaseCommit(name)]).toEqual([version, commit])
  })

  test('returns null without version and commit, and limits the length', () => {
    expect(releaseName({ app_version: null, git_sha: null })).toBeNull()
    for (const length of [60, 100, 125, 126, 127, 128]) {
      const app_version = 'v'.repeat(length)
      const name = releaseName({ app_version, git_sha: 'f'.repeat(64) }) ?? ''
      expect(name.length).toBeLessThanOrEqual(128)
      expect(releaseVersion(name)).toBe(app_version)
    }
  })
})

describe('release order', () => {
  const release = (name: string, first_seen_at: number) => ({ name, first_seen_at })

  test.each([
    ['1.4.0', '1.5.0'],
    ['1.4.0 @bbb', '1.4.0 @aaa'],
    ['1.4.0+46', '1.4.0+45'],
    ['1.4.0-f81f3c2', '1.4.0-a07d11e'],
    ['f81f3c2', 'a07d11e'],
  ])('orders %s, which was seen first, before %s', (earlier, later) => {
    expect(compareReleases(release(earlier, 1), release(later, 2))).toBeLessThan(0)
    expect(compareReleases(release(later, 2), release(earlier, 1))).toBeGreaterThan(0)
  })

  test.each([
    ['1.4.0 @aaa', '1.4.0'],
    ['1.4.0 @aaa', '1.4.0 @aaa'],
  ])('does not order %s and %s', (a, b) => {
    expect(compareReleases(release(a, 1), release(b, 2))).toBe(0)
  })

  test('orders by version, or else by the time first seen', () => {
    const order = (...names: string[]) => sortReleases(names.map(release)).map(({ name }) => name)
    expect(order('2.0.0', '1.9.9')).toEqual(['1.9.9', '2.0.0'])
    expect(order('1.9.0', '2.0.0', '1.10.0', '1.2.0')).toEqual(['1.2.0', '1.9.0', '1.10.0', '2.0.0'])
    expect(order('fff', 'aaa')).toEqual(['fff', 'aaa'])
    expect(order('2.0.0', 'aaa', '1.9.9')).toEqual(['2.0.0', 'aaa', '1.9.9'])
    expect(order('1.0.0 @b', '1.0.0 @a')).toEqual(['1.0.0 @b', '1.0.0 @a'])
  })
})

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeUnsupportedVersion, installedVersion, OLDEST_SUPPORTED } from '../../src/config/supported-packages.js'

const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync('package.json', 'utf8'))

test('package.json accepts every version of an optional peer', () => {
  expect(new Set(Object.values(peerDependencies))).toEqual(new Set(['*']))
  expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies))
})

test('returns the installed version of a package, and null for a package that is not installed', () => {
  expect(installedVersion('express')).toBe(
    JSON.parse(readFileSync('node_modules/express/package.json', 'utf8')).version,
  )
  expect(installedVersion('nuxt')).toBeNull()
})

test.each(Object.keys(OLDEST_SUPPORTED) as (keyof typeof OLDEST_SUPPORTED)[])(
  'supports the version of %s that the tests use',
  (name) => {
    expect(describeUnsupportedVersion(name)).toBeNull()
  },
)

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { OPTION_NAMES } from '../../src/config/options.js'

const readme = readFileSync('README.md', 'utf8')

describe('the README', () => {
  test('shows the Express example exactly as it stands in examples/ and runs in the tests', () => {
    expect(readme).toContain(readFileSync('examples/express/app.js', 'utf8').trim())
  })

  test('shows the beginning of the node:http example as it stands in examples/', () => {
    const [beginning = ''] = readFileSync('examples/node/app.js', 'utf8').split('// A rejected handler')
    expect(readme).toContain(beginning.trim())
  })

  test('has the two lines that do everything', () => {
    expect(readme).toContain('npm ci && npm start')
    expect(readme).toContain('npm ci && npm test')
  })

  test('gives a result on its first screen', () => {
    expect(readme.split('\n').findIndex((line) => line.startsWith('import express'))).toBeLessThan(30)
    expect(readme.split('\n').length).toBeLessThanOrEqual(150)
  })
})

describe('the docs', () => {
  test.each(['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/operations.md', 'docs/performance.md'])(
    '%s links only to files that exist',
    (file) => {
      const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(
        (match) => match[1] ?? '',
      )
      expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([])
    },
  )

  test('docs/configuration.md names every option, and is fresh', () => {
    const text = readFileSync('docs/configuration.md', 'utf8')
    expect(OPTION_NAMES.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
    expect(() =>
      execFileSync(process.execPath, ['scripts/generate-docs.mjs', '--check'], { stdio: 'pipe' }),
    ).not.toThrow()
  })

  test('docs/architecture.md names every folder of the source', () => {
    const text = readFileSync('docs/architecture.md', 'utf8')
    for (const folder of ['config', 'model', 'store', 'capture', 'triage', 'analytics', 'dashboard', 'adapters', 'cli'])
      expect(text).toContain(`  ${folder}/`)
  })
})

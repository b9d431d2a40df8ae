import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VERSION } from '../../src/model/version.js'
import { temporaryFolder } from '../support/tracker.js'

const FOLDER = '.github/workflows'
const WORKFLOWS = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

describe.each(WORKFLOWS)('the workflow $name', ({ text }) => {
  test('pins every action to a commit', () => {
    const actions = text.match(/uses: .*/g) ?? []
    expect(actions.length).toBeGreaterThan(0)
    expect(actions.filter((action) => !/@[0-9a-f]{40} # v\d/.test(action))).toEqual([])
  })

  test('grants permissions per job only', () => {
    expect(text).toMatch(/^permissions: \{\}$/m)
  })

  test('runs only scripts that exist', () => {
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? '')
    const files = [...text.matchAll(/node (scripts\/[\w-]+\.mjs)/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    for (const file of files) expect(readFileSync(file, 'utf8')).not.toBe('')
  })
})

test('CI covers every supported Node.js version with every database', () => {
  const { text } = WORKFLOWS.find(({ name }) => name === 'ci.yml') ?? { text: '' }
  expect(text).toContain('node: [20, 22, 24]')
  expect(text).toContain('database: [sqlite, postgres, mysql]')
  expect(text).toContain('npm run check:package')
})

test('benchmarks are compared with the accepted results every week and on demand', () => {
  const { text } = WORKFLOWS.find(({ name }) => name === 'bench.yml') ?? { text: '' }
  expect(text).toContain('npm run bench -- --check')
  expect(text).toContain('schedule:')
  expect(text).toContain('workflow_dispatch:')
  expect(text).toContain('bench/results/latest.json')
})

test('packages are installed one by one every week, with every supported Node.js version', () => {
  const { text } = WORKFLOWS.find(({ name }) => name === 'install.yml') ?? { text: '' }
  expect(text).toContain('manager: [npm, pnpm, Yarn]')
  // The test uses the Node.js of the container and those of test/hosts.
  expect(text).toContain('container: node:20-')
  const hosts = readFileSync('test/hosts/package.json', 'utf8')
  for (const major of [22, 24]) expect(hosts).toContain(`"node${major}-linux-x64"`)
  expect(text).toContain('FAULTBOARD_TEST_INSTALLS: each')
  expect(text).toContain('npm test -- test/packed/package-managers.test.ts')
})

test('a release has provenance and an SBOM', () => {
  const { text } = WORKFLOWS.find(({ name }) => name === 'release.yml') ?? { text: '' }
  expect(text).toContain('npm publish --provenance')
  expect(text).toContain('npm sbom')
  expect(text).toContain('id-token: write')
})

test('the source has the version of package.json', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
})

test.each([
  ['v1.2.0', '## 1.2.0 (2026-11-20)', 0, '- A change.\n'],
  ['v1.2.1', '## 1.2.0 (2026-11-20)', 1, 'The tag v1.2.1 does not match version 1.2.0 in package.json.\n'],
  ['v1.2.0', '## 1.1.0', 1, 'The newest section of CHANGELOG.md is "1.1.0", not 1.2.0.\n'],
  ['v1.2.0', '## 1.2.0 (unreleased)', 1, 'CHANGELOG.md still marks 1.2.0 as unreleased.\n'],
])('the release check of %s with the section %j exits with %i', (tag, heading, code, output) => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'package.json'), '{ "version": "1.2.0" }')
  writeFileSync(
    join(cwd, 'CHANGELOG.md'),
    `# Changelog\n\n${heading}\n\n- A change.\n\n## 1.0.0\n\n- An older change.\n`,
  )
  const script = resolve('scripts/check-release.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], { cwd, encoding: 'utf8' })
  expect({ status, output: stdout + stderr }).toEqual({ status: code, output })
})

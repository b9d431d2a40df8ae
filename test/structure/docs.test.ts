import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Tracker } from '../../src/index.js'
import { DROP_REASONS } from '../../src/model/drop-reasons.js'
import { describeInput } from '../../src/model/input/describe-input.js'
import { gradeSeverity } from '../../src/model/severity/grade-severity.js'
import { SEVERITIES } from '../../src/model/severity/severity.js'
import { OPTION_NAMES } from '../../src/options.js'
import { readSamples } from '../examples/samples.js'
import { ACTIONS, DOWNLOADS, FEEDS, liveStream, PAGES } from '../support/routes.js'

const readme = readFileSync('README.md', 'utf8')

describe('the README', () => {
  test('contains the Express example from examples/', () => {
    expect(readme).toContain(readFileSync('examples/express/app.js', 'utf8').trim())
  })

  test('contains the two lines of the Fastify example', () => {
    const example = readFileSync('examples/fastify/app.js', 'utf8')
    for (const line of ["import { faultboard } from 'faultboard/fastify'", 'app.register(faultboard)']) {
      expect(readme).toContain(line)
      expect(example).toContain(line)
    }
  })

  test('contains the commands to start and to test a clone', () => {
    expect(readme).toContain('npm ci && npm start')
    expect(readme).toContain('npm ci && npm test')
  })

  test('shows code within its first 30 lines and has at most 150', () => {
    expect(readme.split('\n').findIndex((line) => line.startsWith('import express'))).toBeLessThan(30)
    expect(readme.split('\n').length).toBeLessThanOrEqual(150)
  })
})

describe('the package page', () => {
  const { repository, homepage, bugs } = JSON.parse(readFileSync('package.json', 'utf8'))
  const address = /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(repository.url)?.[1] ?? ''

  test('package.json derives all addresses from the repository', () => {
    expect({ homepage, bugs }).toEqual({ homepage: `${address}#readme`, bugs: `${address}/issues` })
  })

  // npm resolves relative links with the repository, but not the sources of a <picture>.
  test('the README embeds pictures by absolute URL, and each file exists', () => {
    const pictures = [...readme.matchAll(/ (?:src|srcset)="([^"]*)"/g)].map(([, link = '']) => link)
    expect(pictures.length).toBeGreaterThan(1)
    const folder = `${address.replace('github.com', 'raw.githubusercontent.com')}/HEAD/`
    for (const picture of pictures) expect(picture).toContain(folder)
    expect(pictures.filter((picture) => !existsSync(picture.replace(folder, '')))).toEqual([])
  })
})

describe('the docs', () => {
  const landingPage = readFileSync('docs/README.md', 'utf8')

  test('docs/README.md links to every page', () => {
    const pages = readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md')
    expect(pages.filter((page) => !landingPage.includes(`](${page})`))).toEqual([])
  })

  test('every code block has a language', () => {
    expect(readSamples().filter(({ language }) => language === '')).toEqual([])
  })

  test('the pages show every picture, and the pictures take at most 3.7 MB', () => {
    const text = readdirSync('docs').map((name) => (name.endsWith('.md') ? readFileSync(`docs/${name}`, 'utf8') : ''))
    const pictures = readdirSync('docs/images')
    expect(pictures.filter((name) => !text.some((page) => page.includes(`/docs/images/${name}"`)))).toEqual([])
    const bytes = pictures.map((name) => statSync(`docs/images/${name}`).size).reduce((sum, size) => sum + size, 0)
    expect(bytes).toBeLessThanOrEqual(3_700_000)
  })

  test('docs/frameworks.md contains the examples from examples/', () => {
    const text = readFileSync('docs/frameworks.md', 'utf8')
    const shown = [
      ...['express', 'fastify', 'koa', 'hono', 'h3', 'fetch', 'node', 'elysia', 'trpc', 'graphql-yoga', 'apollo'].map(
        (name) => `${name}/app.js`,
      ),
      'nest/src/main.ts',
      'sveltekit/src/hooks.server.js',
      ...['src/middleware.js', 'astro.config.mjs'].map((name) => `astro/${name}`),
      ...['faultboard.server.js', 'routes/error_dashboard.js'].map((name) => `react-router/app/${name}`),
      ...['next.config.mjs', 'instrumentation.js', 'app/error_dashboard/[[...path]]/route.js'].map(
        (name) => `next/${name}`,
      ),
      ...['plugins/faultboard.js', 'nitro.config.mjs'].map((name) => `nitro/${name}`),
    ]
    expect(shown.filter((name) => !text.includes(readFileSync(`examples/${name}`, 'utf8').trim()))).toEqual([])
  })

  test('docs/deployment.md has a measured time for every recipe', () => {
    const [recipes = '', times = ''] = readFileSync('docs/deployment.md', 'utf8').split('\n## Measured times\n')
    const titles = [...recipes.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    expect(titles.length).toBeGreaterThan(5)
    expect([...times.matchAll(/^\| ([^|]+) \| \d+ s/gm)].map(([, title]) => title)).toEqual(titles)
  })

  test('docs/capture.md lists every drop reason with its description', () => {
    const text = readFileSync('docs/capture.md', 'utf8')
    const rows = Object.entries(DROP_REASONS).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`)
    expect(rows.filter((row) => !text.includes(row))).toEqual([])
  })

  test('docs/capture.md lists severities that match the built-in rules', () => {
    const section =
      readFileSync('docs/capture.md', 'utf8')
        .split('\n## ')
        .find((section) => section.startsWith('Severity')) ?? ''
    const rows = [...section.matchAll(/^\| (critical|high|medium|low) \| [^|]* \| ([^|]*)\|$/gm)]
    const examples = rows.flatMap(([, severity, names = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, error_type = '']) => ({ error_type, severity })),
    )
    expect(new Set(examples.map(({ severity }) => severity)).size).toBe(SEVERITIES.length)
    expect(
      examples.filter(({ error_type, severity }) => gradeSeverity({ error_type, rules: [] }) !== severity),
    ).toEqual([])
  })

  test('docs/operations.md names every command and query', () => {
    const text = readFileSync('docs/operations.md', 'utf8')
    const names = [...Object.keys(Tracker.Commands), ...Object.keys(Tracker.Queries)]
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
  })

  test('docs/configuration.md names every option', () => {
    const text = readFileSync('docs/configuration.md', 'utf8')
    expect(OPTION_NAMES.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  test('docs/endpoints.md has a section for every endpoint, with every parameter that it takes', () => {
    const text = readFileSync('docs/endpoints.md', 'utf8')
    const missing = [...PAGES, ...FEEDS, ...DOWNLOADS, liveStream, ...ACTIONS].flatMap(({ path, parameters }) => {
      const heading = ` ${path.replace(/\{[^}]*\}/g, '')}\`\n`
      const sections = text.split('\n### ').filter((section) => section.includes(heading))
      return describeInput(parameters)
        .filter(({ name }) => name !== 'actor')
        .filter(({ name }) => !sections.some((section) => new RegExp(`^\\| \`${name}(\\[\\])?\` `, 'm').test(section)))
        .map(({ name }) => `${path} ${name}`)
        .concat(sections.length > 0 ? [] : [path])
    })
    expect(missing).toEqual([])
  })

  test('generated docs are up to date', () => {
    const check = () => execFileSync(process.execPath, ['scripts/generate-docs.mjs', '--check'], { stdio: 'pipe' })
    expect(check).not.toThrow()
  })

  test('docs/architecture.md has a diagram of folders that exist', () => {
    const [, diagram = ''] = /```mermaid\n(.*?)```/s.exec(readFileSync('docs/architecture.md', 'utf8')) ?? []
    const folders = diagram.match(/[\w/-]+(?=\/[ <])/g) ?? []
    expect(folders.length).toBeGreaterThan(10)
    expect(folders.filter((folder) => !existsSync(`src/${folder}`))).toEqual([])
  })

  test('docs/architecture.md names every folder of the source', () => {
    const text = readFileSync('docs/architecture.md', 'utf8')
    for (const folder of readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      expect(text).toContain(`  ${folder.name}/`)
  })
})

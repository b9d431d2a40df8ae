import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ObjectExpression, parseExpressionAt } from 'acorn'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.js'
import { loadCommands } from '../../src/cli/command-table.js'
import { acceptedNames } from '../../src/model/input/spelling.js'
import { environmentVariable, OPTION_NAMES } from '../../src/options.js'
import { packedFiles } from '../support/processes/installed.js'

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...['docs', 'demo', 'examples'].flatMap(below),
]
const text = Object.fromEntries(PAGES.map((page) => [page, readFileSync(page, 'utf8')]))

/** Address of a file or folder that the package does not contain. */
const FILES_ON_GITHUB =
  /^https:\/\/(?:raw\.githubusercontent\.com\/faultboard\/faultboard|github\.com\/faultboard\/faultboard\/(?:blob|tree))\/HEAD\//

const packagedFiles = new Set(packedFiles())

/** Returns relative links, and links and pictures with the address of the repository. */
function linksOf(page: string): string[] {
  const links = (text[page] ?? '').matchAll(/\]\(([^)]+)\)| (?:src|srcset)="((?:images|https:)[^"]+)"/g)
  return [...links]
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((link) => !/^(?:https?|mailto):/.test(link) || FILES_ON_GITHUB.test(link))
}

/** Returns code spans and lines of code blocks. */
function codeOf(page: string): string[] {
  const blocks = [...(text[page] ?? '').matchAll(/^```\w*\n(.*?)^```/gms)].map((match) => match[1] ?? '')
  const spans = [...(text[page] ?? '').replace(/^```.*?^```/gms, '').matchAll(/`([^`]+)`/g)].map(
    (match) => match[1] ?? '',
  )
  return [...blocks.flatMap((block) => block.split('\n')), ...spans.map((span) => span.replace(/\s+/g, ' '))]
}

describe.each(PAGES)('%s', (page) => {
  test('links only to files and headings that exist', () => {
    expect(linksOf(page).filter((link) => !isValidLink(page, link))).toEqual([])
  })

  test('names only options that exist', () => {
    const known = acceptedNames(OPTION_NAMES)
    const switches = codeOf(page).filter((code) => /^(enable|detect)_[a-z_]+$/.test(code))
    expect([...switches, ...configuredIn(text[page] ?? '')].filter((name) => !known.has(name))).toEqual([])
    const variables = new Set([
      ...OPTION_NAMES.map((name) => environmentVariable(name)),
      'FAULTBOARD_DEBUG',
      'FAULTBOARD_TOKEN',
    ])
    const named = (text[page] ?? '').match(/\bFAULTBOARD_(?!TEST_)[A-Z_]*[A-Z]\b/g) ?? []
    expect(named.filter((name) => !variables.has(name))).toEqual([])
  })
})

test.each(PAGES.filter((page) => packagedFiles.has(page)))(
  '%s has relative links only to files in the package',
  (page) => {
    const paths = linksOf(page).map((link) => link.split('#')[0] ?? '')
    const files = paths
      .filter((path) => path !== '' && !path.startsWith('https:'))
      .map((path) => join(dirname(page), path))
    expect(files.filter((file) => !packagedFiles.has(file))).toEqual([])
  },
)

describe('the command line', () => {
  const commands = new Map<string, Command>()

  beforeAll(async () => {
    for (const command of await loadCommands('')) commands.set(command.name, command)
    expect(commands.size).toBeGreaterThan(10)
  })

  test.each(PAGES)('the command line is documented in %s with existing commands and flags only', (page) => {
    const wrong = codeOf(page).flatMap((line) => {
      const [, rest = ''] =
        /(?:^|.*\s)faultboard ((?:[a-z-]+)(?: .*)?)$/.exec(line.replace(/#.*|&&.*/, '').trim()) ?? []
      if (rest === '' || /^(--version|--help|help|failed|has)/.test(rest)) return []
      const words = rest.split(' ')
      const command = commands.get(words.slice(0, 2).join(' ')) ?? commands.get(words[0] ?? '')
      if (!command) return isGroup(words[0] ?? '') ? [] : [line]
      const flags = words.flatMap((word) => /^--([\w-]+)/.exec(word)?.[1] ?? [])
      return flags
        .filter((flag) => flag !== 'help' && !Object.hasOwn(command.flags, flag))
        .map((flag) => `${line}: --${flag}`)
    })
    expect(wrong).toEqual([])
  })

  test('the command line is listed completely in the README', () => {
    const missing = [...commands.keys()].filter((name) => !text['README.md']?.includes(`\`${name.split(' ')[0]}\``))
    expect(missing.filter((name) => !text['README.md']?.includes(`faultboard ${name}`))).toEqual([])
  })

  test('the command line prints JSON with --json, except for commands that state a reason', () => {
    const invalid = [...commands.values()].filter(({ flags, withoutJson }) => 'json' in flags === Boolean(withoutJson))
    expect(invalid.map(({ name }) => name)).toEqual([])
    const exceptions = [...commands.values()].filter(({ withoutJson }) => withoutJson).map(({ name }) => name)
    expect(exceptions).toEqual(['mcp', 'completion'])
  })

  /** `faultboard sourcemaps` is a group of commands. */
  function isGroup(word: string): boolean {
    return [...commands.keys()].some((name) => name.startsWith(`${word} `))
  }
})

function isValidLink(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const relative = path === '' ? page : join(dirname(page), path)
  const file = FILES_ON_GITHUB.test(path) ? path.replace(FILES_ON_GITHUB, '') : relative
  if (!existsSync(file)) return false
  if (heading === undefined || statSync(file).isDirectory()) return heading === undefined
  const headings =
    readFileSync(file, 'utf8')
      .replace(/^```.*?^```/gms, '')
      .match(/^#+ .*$/gm) ?? []
  return headings.map(anchorOf).includes(heading)
}

/** Returns the anchor that GitHub generates for a heading. */
function anchorOf(heading: string): string {
  const words = heading
    .replace(/^#+ /, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
  return words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
}

/** Returns option names passed to `configure` and `createTracker`, or set on a config. */
function configuredIn(page: string): string[] {
  const blocks = [...page.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)].map((match) => match[1] ?? '')
  return blocks.flatMap((block) => {
    const calls = [...block.matchAll(/(?:configure|createTracker)\(\{/g)]
    const keys = calls.flatMap(({ index }) => keysOf(block.slice(block.indexOf('{', index))))
    return [...keys, ...[...block.matchAll(/\bconfig\.([a-z_]+) =/g)].map((match) => match[1] ?? '')]
  })
}

/** Returns the top-level keys of an object literal. For excerpts that do not parse, returns all keys. */
function keysOf(source: string): string[] {
  try {
    const { properties } = parseExpressionAt(source, 0, { ecmaVersion: 'latest' }) as ObjectExpression
    return properties.flatMap((property) =>
      property.type === 'Property' && property.key.type === 'Identifier' ? [property.key.name] : [],
    )
  } catch {
    // The excerpt contains an ellipsis or TypeScript.
    return source.slice(0, source.indexOf('})')).match(/[a-z_]+(?=\s*:)/g) ?? []
  }
}

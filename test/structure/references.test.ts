import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ObjectExpression, parseExpressionAt } from 'acorn'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.js'
import { loadCommands } from '../../src/cli/command-table.js'
import { acceptedNames } from '../../src/model/input/spelling.js'
import { environmentVariable, OPTION_NAMES } from '../../src/options.js'

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...below('docs'), ...below('examples')]
const text = Object.fromEntries(PAGES.map((page) => [page, readFileSync(page, 'utf8')]))

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
    const links = [...(text[page] ?? '').matchAll(/\]\((?!https?:|mailto:)([^)]+)\)/g)].map((match) => match[1] ?? '')
    const pictures = [...(text[page] ?? '').matchAll(/ (?:src|srcset)="(images[^"]+)"/g)].map((match) => match[1] ?? '')
    expect([...links, ...pictures].filter((link) => !leads(page, link))).toEqual([])
  })

  test('names only options that exist', () => {
    const known = acceptedNames(OPTION_NAMES)
    const switches = codeOf(page).filter((code) => /^(enable|detect)_[a-z_]+$/.test(code))
    expect([...switches, ...configuredIn(text[page] ?? '')].filter((name) => !known.has(name))).toEqual([])
    const variables = new Set([...OPTION_NAMES.map((name) => environmentVariable(name)), 'FAULTBOARD_DEBUG'])
    const named = (text[page] ?? '').match(/\bFAULTBOARD_(?!TEST_)[A-Z_]*[A-Z]\b/g) ?? []
    expect(named.filter((name) => !variables.has(name))).toEqual([])
  })
})

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

function leads(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const file = path === '' ? page : join(dirname(page), path)
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
    return properties.flatMap((one) => (one.type === 'Property' && one.key.type === 'Identifier' ? [one.key.name] : []))
  } catch {
    // The excerpt contains an ellipsis or TypeScript.
    return source.slice(0, source.indexOf('})')).match(/[a-z_]+(?=\s*:)/g) ?? []
  }
}

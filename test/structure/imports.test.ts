import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * Allowed imports by folder. A folder can also import itself and the shared root files. The direction is
 * adapters, cli -> tracker -> dashboard -> slices -> store -> model, config.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: [],
  html: [],
  config: ['model'],
  store: ['config', 'model'],
  capture: ['config', 'model', 'store', 'context'],
  audit: ['config', 'model', 'store', 'context', 'operation'],
  triage: ['config', 'model', 'store', 'context', 'operation'],
  analytics: ['config', 'model', 'store', 'context', 'operation'],
  people: ['config', 'model', 'store', 'context', 'operation'],
  diagnostics: ['config', 'model', 'store', 'capture', 'analytics', 'dashboard', 'context', 'operation'],
  notifications: ['config', 'model', 'store', 'jobs', 'context', 'operation'],
  transfer: ['model', 'store', 'triage', 'context'],
  jobs: ['config', 'model', 'store', 'context'],
  'jobs/registry': ['model', 'notifications', 'jobs', 'jobs/handlers', 'health', 'context'],
  'jobs/handlers': [
    'model',
    'store',
    'audit',
    'people',
    'analytics',
    'triage',
    'notifications',
    'transfer',
    'jobs',
    'context',
  ],
  health: ['config', 'model', 'store', 'jobs', 'context'],
  dashboard: [
    'config',
    'model',
    'html',
    'capture',
    'audit',
    'triage',
    'analytics',
    'diagnostics',
    'notifications',
    'people',
    'health',
    'context',
    'operation',
  ],
  adapters: ['config', 'model', 'capture', 'dashboard', 'tracker', 'index'],
  subscribers: ['model', 'capture', 'diagnostics', 'tracker', 'index'],
  reporting: ['config', 'capture', 'dashboard', 'model', 'adapters', 'tracker', 'index'],
  testing: ['config', 'model', 'store', 'jobs', 'notifications', 'options', 'index'],
  browser: [],
  cli: [
    'config',
    'model',
    'store',
    'triage',
    'people',
    'diagnostics',
    'notifications',
    'transfer',
    'mcp',
    'jobs',
    'health',
    'adapters',
    'reporting',
    'tracker',
    'index',
    'options',
    'context',
  ],
  mcp: ['model', 'triage', 'tracker'],
  context: ['config', 'model', 'store', 'jobs'],
  operation: ['context', 'model'],
  log: ['context', 'model'],
  'lazy-operations': ['audit', 'triage', 'analytics', 'notifications', 'people', 'transfer', 'operation'],
  operations: ['lazy-operations', 'analytics', 'diagnostics', 'operation'],
  backend: ['config', 'model', 'store', 'audit', 'notifications', 'jobs', 'jobs/registry', 'context'],
  'lazy-backend': ['model', 'store', 'backend'],
  runtime: [
    'config',
    'model',
    'store',
    'capture',
    'diagnostics',
    'jobs',
    'dashboard',
    'context',
    'lazy-backend',
    'log',
  ],
  tracker: [
    'config',
    'model',
    'capture',
    'diagnostics',
    'dashboard',
    'context',
    'log',
    'operation',
    'operations',
    'options',
    'runtime',
  ],
  register: ['index', 'model', 'diagnostics'],
  index: ['config', 'model', 'capture', 'diagnostics', 'triage', 'options', 'tracker'],
  options: ['config', 'model', 'diagnostics'],
}

/** Packages that only one file or folder may import: drivers, frameworks and what must stay lazily loaded. */
const ONLY_IN: Record<string, RegExp> = {
  kysely: /^store\/kysely\.ts$/,
  '@photostructure/sqlite': /^store\/dialects\/sqlite-library\.ts$/,
  'node:sqlite': /^store\/dialects\/sqlite-library\.ts$/,
  // On Node.js 20 and 22, an active AsyncLocalStorage makes every await of the host slower.
  'node:async_hooks': /^capture\//,
  hono: /^(dashboard|html)\//,
  jiti: /^cli\//,
  acorn: /^diagnostics\/swallowed\/detection\/marking\/syntax\.ts$/,
  'estree-walker': /^diagnostics\/swallowed\/detection\/marking\/syntax\.ts$/,
  'magic-string': /^(diagnostics\/swallowed\/detection\/marking\/|cli\/demo\/basket-script\.ts$)/,
  'highlight.js': /^diagnostics\/source\/highlight-js\.ts$/,
  react: /^browser\/react\//,
}

const FORBIDDEN_FOLDERS = /(^|\/)(utils?|helpers?|services|common|lib|misc|support)(\/|$)/

const files = sourceFiles('src')

describe('the source', () => {
  test('imports only in the allowed direction', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => place(join(dirname(file), target)))
        .filter((to) => to !== place(file) && !MAY_IMPORT[place(file)]?.includes(to))
        .map((to) => `${file} -> ${to}`),
    )
    expect(wrong).toEqual([])
  })

  test('the source has no import cycles, including type imports and dynamic imports', () => {
    const graph = new Map(
      files.map((file) => [
        file,
        importsOf(file)
          .filter((target) => target.startsWith('.'))
          .map((target) => resolved(file, target)),
      ]),
    )
    expect(cycles(graph)).toEqual([])
  })

  test('keeps drivers and frameworks in their own files', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .map((target) => Object.keys(ONLY_IN).find((name) => target === name || target.startsWith(`${name}/`)))
        .filter((name) => name !== undefined && !ONLY_IN[name]?.test(relative('src', file)))
        .map((name) => `${file} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('the source has no folder with a generic name', () => {
    expect(files.filter((file) => FORBIDDEN_FOLDERS.test(relative('src', dirname(file))))).toEqual([])
  })

  test('reads the time from the context, except where the context is created', () => {
    // The system clock wrote the time of a spool file, and a web page has no context.
    const own = files.filter(
      (file) => !/^src\/(tracker\.ts|testing\/|store\/spool\/spool\.ts|cli\/|browser\/)/.test(file),
    )
    expect(own.filter((file) => /\bDate\.now\(\)|new Date\(\)/.test(readFileSync(file, 'utf8')))).toEqual([])
  })
})

describe('the pages', () => {
  test('the pages have no inline style, script or handler, which the Content-Security-Policy would forbid', () => {
    const pages = files.filter((file) => file.endsWith('.tsx'))
    expect(pages.length).toBeGreaterThan(5)
    expect(
      pages.filter((file) =>
        /\sstyle=|\son[a-z]+=|<style|dangerouslySetInnerHTML|<script>/.test(readFileSync(file, 'utf8')),
      ),
    ).toEqual([])
  })

  test('the pages define each class in one style sheet, because all are concatenated', () => {
    const folder = 'src/dashboard/assets/css'
    const owners = new Map<string, string[]>()
    for (const sheet of readdirSync(folder)) {
      const own = readFileSync(join(folder, sheet), 'utf8').matchAll(/^(\.[\w-]+) \{/gm)
      for (const name of new Set([...own].map((match) => match[1] ?? ''))) {
        owners.set(name, [...(owners.get(name) ?? []), sheet])
      }
    }
    expect(owners.size).toBeGreaterThan(100)
    expect([...owners].filter(([, sheets]) => sheets.length > 1)).toEqual([])
  })

  test('the pages use every class that a style sheet defines and no other class', () => {
    const read = (folder: string, ending: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith(ending))
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join('\n')
    const markup = read('src/dashboard', '.tsx') + read('src/diagnostics', '.tsx')
    const code = markup + read('src/dashboard', '.ts') + read('src/diagnostics', '.ts')
    const scripts = read('src/dashboard/assets/js', '.js')
    const selectors = read('src/dashboard/assets/css', '.css')
      .replace(/\/\*.*?\*\//gs, '')
      .replace(/\{[^{}]*\}/g, '')
    const defined = new Set([...selectors.matchAll(/\.([a-z][\w-]*)/g)].map((match) => match[1] ?? ''))
    expect(defined.size).toBeGreaterThan(100)
    // A template such as `severity-${severity}` uses every class with its prefix.
    const prefixes = [...code.matchAll(/([a-z][\w-]*-)\$\{/g)].map((match) => match[1] ?? '')
    const words = new Set((code + scripts).match(/[\w-]+/g))
    const unused = [...defined].filter(
      (name) => !words.has(name) && !prefixes.some((prefix) => name.startsWith(prefix)),
    )
    expect(unused).toEqual([])
    const hooks = new Set(scripts.match(/[\w-]+/g))
    const used = [...markup.matchAll(/\bclass="([^"]*)"/g)].flatMap((match) => (match[1] ?? '').split(' '))
    expect(used.filter((name) => !defined.has(name) && !hooks.has(name))).toEqual([])
  })

  test('the pages contain no SQL and do not import the store', () => {
    const dashboard = files.filter((file) => file.startsWith('src/dashboard/'))
    expect(
      dashboard.filter((file) =>
        /selectFrom|insertInto|updateTable|from '.*\/store\//.test(readFileSync(file, 'utf8')),
      ),
    ).toEqual([])
  })
})

describe('differences between databases', () => {
  test('differences between databases are capabilities of the dialect, and only dialects contain the name of their database', () => {
    const branches =
      /\bname\s*[!=]==?\s*'(sqlite|postgres|mysql)'|\[(\w+\.)*dialect\.name\]|dialect\.name\)|Dialect\['name'\]/
    const others = files.filter((file) => !file.startsWith('src/store/dialects/'))
    expect(others.filter((file) => branches.test(readFileSync(file, 'utf8')))).toEqual([])
  })
})

describe('input of a request', () => {
  test('input of a request is parsed once, by the handler, and passed to `run` of the operation', () => {
    // list-link.ts parses the default filter, not a request.
    const allowed = ['src/dashboard/handler.ts', 'src/dashboard/links/list-link.ts']
    const pages = files.filter((file) => /^src\/(dashboard|diagnostics)\//.test(file) && !allowed.includes(file))
    expect(pages.filter((file) => /\b(parseInput|perform)\(/.test(readFileSync(file, 'utf8')))).toEqual([])
  })
})

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
}

/** Modules that a file imports statically, dynamically or for a type. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

function resolved(file: string, target: string): string {
  const path = join(dirname(file), target).replace(/\.js$/, '')
  return files.find((candidate) => candidate === `${path}.ts` || candidate === `${path}.tsx`) ?? path
}

/** The folder of a file below src, or the file's own name if it is in src itself or is a table of its folder. */
function place(file: string): string {
  const name = relative('src', file).replace(/\.(js|tsx?)$/, '')
  return name in MAY_IMPORT ? name : (name.split('/')[0] ?? '')
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (file: string, path: readonly string[]) => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

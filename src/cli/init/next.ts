import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { changedText, type FileChange, newFile } from './file-change.js'
import type { Framework, Hand, Plan } from './framework.js'
import type { Host } from './host.js'
import { closingOf, mask } from './masked-source.js'
import { readSource, type SourceFile } from './source-file.js'
import type { Statement } from './statements.js'

export const next: Framework = {
  name: 'Next.js',
  package: 'next',
  least_major: 15,
  lines: [
    "// next.config.mjs:  serverExternalPackages: ['faultboard']",
    "// instrumentation.js:  export { onRequestError, register } from 'faultboard/next'",
    '// app/error_dashboard/[[...path]]/route.js:',
    "import { dashboard } from 'faultboard/next'",
    'export const { GET, HEAD, POST } = dashboard()',
  ],
  plan(host) {
    const parts = [config(host), instrumentation(host), route(host)]
    return {
      found: 'Next.js in package.json',
      changes: parts.flatMap(({ change }) => change ?? []),
      present: parts.flatMap(({ present }) => present ?? []),
      by_hand: parts.flatMap(({ hand }) => hand ?? []),
      ...(appFolder(host) === undefined && { dashboard_path: '/api/error_dashboard' }),
    } satisfies Plan
  },
}

/** One of: what to change, where it is already, what to do by hand. */
interface Part {
  change?: FileChange
  present?: string
  hand?: Hand
}

const EXTERNAL = "serverExternalPackages: ['faultboard'],"
/** webpack, the bundler of Next.js 15, minifies and writes no maps unless told to: every build would regroup errors. */
const MAPS = 'experimental: { serverSourceMaps: true },'

function config({ folder, packages }: Host): Part {
  const wanted = /^\D*15\b/.test(packages.next ?? '') ? [EXTERNAL, MAPS] : [EXTERNAL]
  const path = ['ts', 'mts', 'mjs', 'js']
    .map((end) => `next.config.${end}`)
    .find((name) => existsSync(join(folder, name)))
  if (path === undefined)
    return { change: newFile('next.config.mjs', ['export default {', ...wanted.map((one) => `  ${one}`), '}']) }
  const file = readSource(folder, path)
  if (file?.statements.some(({ text }) => /['"]faultboard['"]/.test(text))) return { present: path }
  const line = file && insideConfiguration(file)
  const change = line ? withLines(file, line, file.masked?.includes('experimental') ? [EXTERNAL] : wanted) : null
  // Not where it would be part of a comment.
  if (change && mask(changedText(change))?.includes('serverExternalPackages')) return { change }
  return { hand: { reason: `${path} is written in a way that init does not understand`, lines: wanted } }
}

function withLines({ path, source }: SourceFile, line: number, lines: readonly string[]): FileChange {
  return { path, before: source, edits: [{ line, remove: 0, insert: lines.map((one) => `  ${one}`) }] }
}

const EXPORT = /^(?:export\s+default|module\.exports\s*=)\s*/
const TYPED = /^(\s*(satisfies|as)\s+[\w.]+)?\s*;?$/

/** The line below the brace of the object that is exported, by itself or by its name; null where there is no such. */
function insideConfiguration({ masked, statements }: SourceFile): number | null {
  const [exported, ...others] = statements.filter(({ masked: one }) => EXPORT.test(one))
  if (!exported || others.length > 0 || masked?.includes('serverExternalPackages')) return null
  const what = exported.masked.replace(EXPORT, '')
  if (what.startsWith('{')) return belowBrace(exported, EXPORT)
  const [name] = /^[\w$]+/.exec(what) ?? []
  if (name === undefined || !TYPED.test(what.slice(name.length))) return null
  const declared = new RegExp(`^(?:const|let|var)\\s+${name.replace(/\$/g, '\\$&')}(?:\\s*:\\s*[\\w.]+)?\\s*=\\s*`)
  const objects = statements.filter((one) => declared.test(one.masked))
  return objects[0] && objects.length === 1 ? belowBrace(objects[0], declared) : null
}

function belowBrace({ masked, start }: Statement, head: RegExp): number | null {
  const open = head.exec(masked)?.[0].length ?? 0
  const isWhole = masked[open] === '{' && TYPED.test(masked.slice(closingOf(masked, open) + 1))
  return isWhole && /^\{[^\S\n]*\n/.test(masked.slice(open)) ? start + masked.slice(0, open).split('\n').length : null
}

function instrumentation(host: Host): Part {
  const { folder } = host
  const at = existsSync(join(folder, 'src/app')) || existsSync(join(folder, 'src/pages')) ? 'src/' : ''
  const line = "export { onRequestError, register } from 'faultboard/next'"
  const path = ['ts', 'js', 'mjs']
    .map((end) => `${at}instrumentation.${end}`)
    .find((name) => existsSync(join(folder, name)))
  if (path === undefined) return { change: newFile(`${at}instrumentation.${ending(host)}`, [line]) }
  const isDone = readSource(folder, path)?.statements.some(({ text }) => text.includes('faultboard/next'))
  if (isDone) return { present: path }
  return { hand: { reason: `there is a ${path} already: call register and onRequestError in it`, lines: [line] } }
}

function route(host: Host): Part {
  const { folder } = host
  const has = (path: string) => existsSync(join(folder, path))
  const app = appFolder(host)
  const pages = ['pages', 'src/pages'].find(has) ?? 'pages'
  const bare = app ? `${app}/error_dashboard/[[...path]]/route` : `${pages}/api/error_dashboard/[[...path]]`
  const present = ['ts', 'js', 'mjs', 'tsx', 'jsx'].map((end) => `${bare}.${end}`).find(has)
  if (present !== undefined) return { present }
  const path = `${bare}.${ending(host)}`
  if (!app) {
    return {
      change: newFile(path, [
        "import { pagesDashboard } from 'faultboard/next'",
        '',
        'export default pagesDashboard()',
      ]),
    }
  }
  const lines = ["import { dashboard } from 'faultboard/next'", '', 'export const { GET, HEAD, POST } = dashboard()']
  return { change: newFile(path, lines) }
}

function appFolder({ folder }: Host): string | undefined {
  return ['app', 'src/app'].find((path) => existsSync(join(folder, path)))
}

function ending({ uses_typescript }: Host): string {
  return uses_typescript ? 'ts' : 'js'
}

import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Hand } from './framework.js'
import { type Host, majorOf } from './host.js'
import { mask } from './masked-source.js'
import { readText } from './source-file.js'
import { withoutComments } from './statements.js'

/** What tsconfig.json lacks for this file to be compiled with an import of Faultboard in it. */
export function typescriptHands(host: Host, path: string): Hand[] {
  if (!host.uses_typescript || !/\.[cm]?ts$/.test(path)) return []
  const options = optionsOf(join(host.folder, 'tsconfig.json'))
  const reason = options && (resolutionFault(host, options) ?? requireFault(host, options, path))
  const names = options?.moduleResolution === undefined ? ['module'] : ['module', 'moduleResolution']
  return reason ? [{ reason, lines: names.map((name) => `"${name}": "nodenext"`) }] : []
}

interface Options {
  module?: string
  moduleResolution?: string
}

const MAX_EXTENDED = 5

/** Where the `exports` of packages are not read, no subpath of any package is found. */
function resolutionFault({ packages }: Host, { module = '', moduleResolution }: Options): string | null {
  const told = 'tsconfig.json does not let TypeScript read the exports of packages, and it would not find faultboard'
  if (moduleResolution !== undefined) return /^(node|node10|classic)$/i.test(moduleResolution) ? told : null
  if (/^(node\w+|preserve)$/i.test(module)) return null
  return (majorOf(packages.typescript) ?? 0) >= 6 ? null : told
}

function requireFault({ is_module }: Host, { module = '' }: Options, path: string): string | null {
  const isRequired = path.endsWith('.cts') || (!is_module && path.endsWith('.ts'))
  return isRequired && /^node1\d$/i.test(module)
    ? `with "module": "${module}" in tsconfig.json TypeScript refuses to require an ES module, which faultboard is`
    : null
}

/** The options that are set, also in what it extends; null where that cannot be read. */
function optionsOf(file: string, left = MAX_EXTENDED): Options | null {
  const source = readText(dirname(file), basename(file))
  const masked = source === null ? null : mask(source)
  if (source === null || masked === null || left === 0) return null
  const text = withoutComments(source, masked)
  const own = Object.fromEntries(
    ['module', 'moduleResolution'].flatMap((name) => {
      const value = new RegExp(`"${name}"\\s*:\\s*"(\\w+)"`).exec(text)?.[1]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const extended = /"extends"\s*:\s*(?:"([^"]+)"|(\[))/.exec(text)
  if (!extended) return own
  const base = extended[1] === undefined ? null : resolved(file, extended[1])
  const inherited = base === null ? null : optionsOf(base, left - 1)
  return inherited && { ...inherited, ...own }
}

function resolved(from: string, name: string): string | null {
  const path = name.endsWith('.json') ? name : `${name}.json`
  if (/^\.{0,2}\//.test(name)) return resolve(dirname(from), path)
  try {
    return createRequire(from).resolve(path)
  } catch {
    // Not installed yet: then it is not known what it says.
    return null
  }
}

import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProject } from './project.js'

/** URL of this file. A bundler removes it, or replaces it with the URL at build time. */
const OWN_FILE = import.meta.url as string | undefined

/**
 * Folder of Faultboard's modules, as a path (for CommonJS stacks) and as a URL (for ES module stacks). Null if a
 * bundler has merged the modules into a file of the host.
 */
export const OWN_FOLDERS: readonly string[] | null = isBundled() ? null : ownFolders()

/**
 * Explains that a bundler has merged Faultboard's modules into a file of the host. Null if the modules are in their own
 * package.
 */
export function bundlingProblem(): string | null {
  if (OWN_FOLDERS !== null) return null
  return (
    'Faultboard is part of a bundle, but loads files of its own package. Mark the package faultboard as external (esbuild ' +
    '--external:faultboard, ncc -e faultboard, externals of webpack, external of Rollup, serverExternalPackages of Next.js), ' +
    'and install it where the bundle runs'
  )
}

/** Own folders outside of node_modules, as in a clone of the repository. */
const CLONED_FOLDERS = OWN_FOLDERS?.filter((folder) => !/[\\/]node_modules[\\/]/.test(folder)) ?? []

/**
 * Returns a stack line with the path that it has in an installed package. The own frames of a clone are then library
 * code too.
 */
export function asInstalledLine(line: string): string {
  // The last folder is the URL, which contains the path.
  const folder = CLONED_FOLDERS.findLast((candidate) => line.includes(candidate))
  return folder === undefined ? line : line.replace(folder, `node_modules/faultboard/${basename(folder)}/`)
}

function ownFolders(): string[] {
  const url = new URL('..', OWN_FILE).href
  return [fileURLToPath(url), url]
}

function isBundled(): boolean {
  if (OWN_FILE === undefined || OWN_FILE === '') return true
  try {
    // Both `src` and `dist` are two levels below the package. A search upward would throw once per folder.
    const root = fileURLToPath(new URL('../..', OWN_FILE))
    return findProject(root).name !== 'faultboard' || runsInOtherFile(basename(fileURLToPath(OWN_FILE)))
  } catch {
    return true
  }
}

/**
 * Checks whether this code runs in a file other than `import.meta.url`. Reads only the file of the call site, because
 * formatting a stack makes V8 count all lines of the package.
 */
function runsInOtherFile(name: string): boolean {
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  try {
    Object.defineProperty(Error, 'prepareStackTrace', {
      value: (_error: Error, sites: NodeJS.CallSite[]) => sites[0]?.getFileName(),
      configurable: true,
      writable: true,
    })
    const file: unknown = new Error().stack
    return typeof file === 'string' && !file.includes(name)
  } catch {
    // The host has frozen its globals.
    return false
  } finally {
    if (before) Object.defineProperty(Error, 'prepareStackTrace', before)
    else Reflect.deleteProperty(Error, 'prepareStackTrace')
  }
}

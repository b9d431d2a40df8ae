import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const PACKAGE = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))(?!.*[\\/]node_modules[\\/])/
const VERSION = /^\d[\w.+-]{0,63}$/
const MAX_PACKAGES = 300
/** A package that is installed anew while the process runs is not loaded anew. */
const versions = new Map<string, string | null>()

/**
 * The packages that are in use, with their versions. Those that were required are known for certain; nobody can be asked
 * which ES modules are loaded, so the direct dependencies of the host stand for them.
 */
export async function modulesSection(project_root: string) {
  const files = Object.keys(createRequire(import.meta.url).cache)
  const folders = new Map<string, string>()
  for (const file of files) {
    const [, folder, name] = PACKAGE.exec(file) ?? []
    if (folder !== undefined && name !== undefined) folders.set(folder, name.replace('\\', '/'))
  }
  const manifest = await jsonOf(join(project_root, 'package.json'))
  const dependencies = Object.keys({ ...manifest?.dependencies, ...manifest?.optionalDependencies })
  return {
    commonjs_modules: files.length,
    commonjs_packages: folders.size,
    packages: await versionsOf([...folders]),
    dependencies: await versionsOf(dependencies.map((name) => [join(project_root, 'node_modules', name), name])),
  }
}

/** By name; where two versions of one are loaded, both are told. */
async function versionsOf(folders: readonly (readonly [string, string])[]): Promise<Record<string, string>> {
  const found = new Map<string, Set<string>>()
  for (const [folder, name] of folders.slice(0, MAX_PACKAGES)) {
    const version = await versionIn(folder)
    if (version === null) continue
    const known = found.get(name) ?? new Set()
    found.set(name, known.add(version))
  }
  const entries = [...found].map(([name, all]) => [name, [...all].sort().join(', ')] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function versionIn(folder: string): Promise<string | null> {
  const known = versions.get(folder)
  if (known !== undefined) return known
  const version = (await jsonOf(join(folder, 'package.json')))?.version
  const told = typeof version === 'string' && VERSION.test(version) ? version : null
  if (versions.size < 10 * MAX_PACKAGES) versions.set(folder, told)
  return told
}

interface Manifest {
  version?: unknown
  dependencies?: Record<string, unknown>
  optionalDependencies?: Record<string, unknown>
}

async function jsonOf(file: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Manifest
  } catch {
    // A folder without a readable package.json has no version to tell.
    return null
  }
}

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const PACKAGE = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))(?!.*[\\/]node_modules[\\/])/
const VERSION = /^\d[\w.+-]{0,63}$/
const MAX_PACKAGES = 300
/** Versions by folder. Loaded packages do not change while the process runs. */
const versionCache = new Map<string, string | null>()

/**
 * Lists packages in use with their versions: those loaded with `require`, and the host's direct dependencies.
 * Node.js does not expose which ES modules are loaded.
 */
export async function modulesSection(projectRoot: string) {
  const files = Object.keys(createRequire(import.meta.url).cache)
  const folders = new Map<string, string>()
  for (const file of files) {
    const [, folder, name] = PACKAGE.exec(file) ?? []
    if (folder !== undefined && name !== undefined) folders.set(folder, name.replace('\\', '/'))
  }
  const manifest = await readManifest(join(projectRoot, 'package.json'))
  const dependencies = Object.keys({ ...manifest?.dependencies, ...manifest?.optionalDependencies })
  return {
    commonjs_modules: files.length,
    commonjs_packages: folders.size,
    packages: await readVersions([...folders]),
    dependencies: await readVersions(dependencies.map((name) => [join(projectRoot, 'node_modules', name), name])),
  }
}

/** Returns versions by package name. Lists all versions of a package that is loaded several times. */
async function readVersions(folders: readonly (readonly [string, string])[]): Promise<Record<string, string>> {
  const versions = new Map<string, Set<string>>()
  for (const [folder, name] of folders.slice(0, MAX_PACKAGES)) {
    const version = await readVersion(folder)
    if (version === null) continue
    versions.set(name, (versions.get(name) ?? new Set()).add(version))
  }
  const entries = [...versions].map(([name, values]) => [name, [...values].sort().join(', ')] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function readVersion(folder: string): Promise<string | null> {
  const cached = versionCache.get(folder)
  if (cached !== undefined) return cached
  const value = (await readManifest(join(folder, 'package.json')))?.version
  const version = typeof value === 'string' && VERSION.test(value) ? value : null
  if (versionCache.size < 10 * MAX_PACKAGES) versionCache.set(folder, version)
  return version
}

interface Manifest {
  version?: unknown
  dependencies?: Record<string, unknown>
  optionalDependencies?: Record<string, unknown>
}

async function readManifest(file: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Manifest
  } catch {
    // Not a package.
    return null
  }
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { CommandFailed } from '../command.js'

/** The application in whose folder `init` runs. */
export interface Host {
  readonly folder: string
  readonly name: string | null
  /** Dependencies from package.json with their version ranges. */
  readonly packages: Readonly<Record<string, string>>
  readonly usesTypescript: boolean
  readonly usesCommonjs: boolean
  readonly packageManager: string
  /** The command that starts the application, or null if it is unknown. */
  readonly startCommand: string | null
  /** The command that must run before it, or null if there is none. */
  readonly buildCommand: string | null
  /** Source files that may create the application, the most likely first. */
  readonly sources: readonly string[]
  /** Folders of the packages in a monorepo that have a package.json. */
  readonly workspaces: readonly string[]
}

const EXTENSIONS = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts']
const ENTRY_NAMES = ['app', 'server', 'index', 'main']
const START_SCRIPTS = ['start', 'dev', 'serve', 'start:dev']
const BUILD_FOLDER = /^(?:\.\/)?(?:dist|build|out|lib)\//
const LOCK_FILES = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
}

export function readHost(folder: string): Host {
  const manifest = readManifest(folder)
  const sources = sourceFiles(folder, manifest)
  const usesTypescript = existsSync(join(folder, 'tsconfig.json')) || /\.[cm]?ts$/.test(sources[0] ?? '')
  const packageManager = detectPackageManager(folder)
  return {
    folder,
    name: typeof manifest.name === 'string' ? manifest.name : null,
    packages: { ...stringEntries(manifest.devDependencies), ...stringEntries(manifest.dependencies) },
    usesTypescript,
    usesCommonjs: !usesTypescript && isCommonjs(sources[0], manifest),
    packageManager,
    startCommand: startCommand(folder, manifest, packageManager),
    buildCommand: buildCommand(manifest, packageManager),
    sources,
    workspaces: workspaceFolders(folder, manifest.workspaces),
  }
}

function isCommonjs(file: string | undefined, manifest: Record<string, unknown>): boolean {
  const [, extension] = /\.([cm])js$/.exec(file ?? '') ?? []
  return extension === undefined ? manifest.type !== 'module' : extension === 'c'
}

/** The text of a file in the host, or null if it does not exist or is not a file. */
export function readText(folder: string, path: string): string | null {
  const file = join(folder, path)
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : null
}

/** The major version of a range such as ^5.1.0, or null for ranges such as `latest` and `workspace:*`. */
export function majorVersion(range: string | undefined): number | null {
  const [, major] = /^\D*(\d+)/.exec(range ?? '') ?? []
  return major === undefined ? null : Number(major)
}

function readManifest(folder: string): Record<string, unknown> {
  const text = readText(folder, 'package.json')
  if (text === null) {
    throw new CommandFailed("No package.json in this folder. Run faultboard init in your application's folder.")
  }
  try {
    const manifest: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof manifest === 'object' && manifest !== null) return manifest as Record<string, unknown>
  } catch (error) {
    throw new CommandFailed(`Cannot parse package.json: ${(error as Error).message}. Correct it and run init again.`)
  }
  throw new CommandFailed('Cannot parse package.json: it does not contain an object. Correct it and run init again.')
}

function stringEntries(value: unknown): Record<string, string> {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {})
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string'))
}

/** The npm script that starts the application, or its `main` file or `bin/www` as Node.js starts it. */
function startCommand(folder: string, manifest: Record<string, unknown>, packageManager: string): string | null {
  const scripts = stringEntries(manifest.scripts)
  const script = START_SCRIPTS.find((name) => scripts[name] !== undefined)
  if (script !== undefined) return `${packageManager} ${script === 'start' ? script : `run ${script}`}`
  const files = [...(typeof manifest.main === 'string' ? [manifest.main] : []), 'bin/www']
  const file = files.find((path) => readText(folder, path) !== null)
  return file === undefined ? null : `node ${file}`
}

/** A script named start often runs the output of the build. */
function buildCommand(manifest: Record<string, unknown>, packageManager: string): string | null {
  const { start, build } = stringEntries(manifest.scripts)
  return start !== undefined && build !== undefined ? `${packageManager} run build` : null
}

/** Files named by the start scripts, then `main`, then common names of entry files. */
function sourceFiles(folder: string, manifest: Record<string, unknown>): string[] {
  const scripts = stringEntries(manifest.scripts)
  const startedFiles = START_SCRIPTS.flatMap((name) => scripts[name]?.match(/[^\s'"]+\.[cm]?[jt]s\b/g) ?? [])
  const main = typeof manifest.main === 'string' ? [manifest.main] : []
  const commonEntries = ['', 'src/'].flatMap((parent) =>
    ENTRY_NAMES.flatMap((name) => withExtensions(`${parent}${name}`)),
  )
  const paths = [...[...startedFiles, ...main].flatMap(sourceCandidates), ...commonEntries].map(normalize)
  return [...new Set(paths)].filter((path) => !path.startsWith('..') && readText(folder, path) !== null)
}

/** Source files that a file in a build folder may be compiled from. A file outside of build folders is its own source. */
function sourceCandidates(path: string): string[] {
  if (!BUILD_FOLDER.test(path)) return [path]
  const name = path.replace(BUILD_FOLDER, '').replace(/\.[cm]?js$/, '')
  return [...withExtensions(`src/${name}`), ...withExtensions(name)]
}

function withExtensions(path: string): string[] {
  return EXTENSIONS.map((extension) => `${path}.${extension}`)
}

/** Searches for the nearest lock file up to the root of the repository, because a monorepo has one lock file. */
function detectPackageManager(folder: string): string {
  const found = Object.entries(LOCK_FILES).find(([name]) => existsSync(join(folder, name)))
  if (found) return found[1]
  const parent = dirname(folder)
  return parent === folder || existsSync(join(folder, '.git')) ? 'npm' : detectPackageManager(parent)
}

/** Expands `packages/*` and plain paths in the workspaces of npm, Yarn and pnpm. */
function workspaceFolders(root: string, declared: unknown): string[] {
  const { packages = declared } = (declared ?? {}) as { packages?: unknown }
  const pnpm = readText(root, 'pnpm-workspace.yaml') ?? ''
  const patterns = [
    ...(Array.isArray(packages) ? packages.filter((pattern) => typeof pattern === 'string') : []),
    ...[...pnpm.matchAll(/^\s*-\s*['"]?([^\s'"#!]+)/gm)].map((match) => match[1] ?? ''),
  ]
  const folders = patterns.flatMap((pattern) => {
    const [, parent] = /^(.*)\/\*+$/.exec(pattern) ?? []
    return parent === undefined ? [pattern] : subfolders(root, parent)
  })
  return [...new Set(folders)].filter((folder) => existsSync(join(root, folder, 'package.json'))).sort()
}

function subfolders(root: string, parent: string): string[] {
  const folder = join(root, parent)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder).map((name) => join(parent, name))
}

import { existsSync } from 'node:fs'
import { dirname, join, normalize, relative, resolve } from 'node:path'
import { CommandFailed } from '../command.js'
import { readSource, readText, type SourceFile, specifiersOf } from './source-file.js'
import { workspaceFolders } from './workspaces.js'

/** The application that init was called in. */
export interface Host {
  readonly folder: string
  /** What it depends on, with the ranges of package.json. */
  readonly packages: Readonly<Record<string, string>>
  readonly uses_typescript: boolean
  /** Whether package.json says that its files are ES modules. */
  readonly is_module: boolean
  /** Whether what is shown to be added by hand is written with require. */
  readonly is_commonjs: boolean
  /** Files in which the application may be made, the likeliest first. */
  readonly files: readonly SourceFile[]
  /** The file that the operator named. */
  readonly named: string | null
  /** How package.json starts it: the name of a script. */
  readonly start_script: string | null
  /** The packages below, where this is the root of several. */
  readonly workspaces: readonly Workspace[]
}

export interface Workspace {
  readonly folder: string
  readonly packages: Readonly<Record<string, string>>
}

const ENDINGS = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts']
const USUAL_NAMES = ['app', 'server', 'index', 'main']

/** Reads package.json and what may be the application's entry. */
export function readHost(here: string, named: string | undefined): Host {
  const folder = named === undefined ? here : packageAround(here, named)
  const manifest = readManifest(folder)
  const entries = named === undefined ? entriesOf(folder, manifest) : [namedFile(folder, resolve(here, named))]
  const started = entries.map((path) => readSource(folder, path)).filter((file) => file !== null)
  const files = started.flatMap((file) => (named === undefined ? [file, ...importedBy(folder, file)] : [file]))
  const is_module = manifest.type === 'module'
  const uses_typescript = existsSync(join(folder, 'tsconfig.json'))
  return {
    folder,
    // What several packages share may stand in that of their root.
    packages: { ...(folder === here ? {} : packagesOf(here)), ...packagesIn(manifest) },
    uses_typescript,
    is_module,
    is_commonjs: !is_module && !uses_typescript && !started.some(({ path }) => /\.m?ts$|\.mjs$/.test(path)),
    files: files.filter(({ path }, i, all) => all.findIndex((one) => one.path === path) === i),
    named: named === undefined ? null : (entries[0] ?? null),
    start_script: ['start', 'dev'].find((name) => manifest.scripts?.[name] !== undefined) ?? null,
    workspaces: workspaceFolders(folder, manifest.workspaces).map((path) => ({
      folder: path,
      packages: packagesOf(join(folder, path)),
    })),
  }
}

/** The major version of a range such as ^5.1.0; null where it tells none (latest, workspace:*). */
export function majorOf(range: string | undefined): number | null {
  const [, major] = /^\D*(\d+)/.exec(range ?? '') ?? []
  return major === undefined ? null : Number(major)
}

interface Manifest {
  workspaces?: unknown
  type?: string
  main?: string
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** The folder of the package.json that is nearest to a file. */
function packageAround(here: string, named: string): string {
  for (let folder = dirname(resolve(here, named)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (folder === here || folder === dirname(folder)) return here
  }
}

function packagesOf(folder: string): Record<string, string> {
  try {
    return packagesIn(readManifest(folder))
  } catch {
    // That of another package is no reason to stop.
    return {}
  }
}

function packagesIn({ dependencies, devDependencies }: Manifest): Record<string, string> {
  return { ...devDependencies, ...dependencies }
}

function readManifest(folder: string): Manifest {
  const text = readText(folder, 'package.json')
  if (text === null) {
    throw new CommandFailed(
      'There is no package.json in this folder: run faultboard init where that of your application is.',
    )
  }
  try {
    return manifestOf(JSON.parse(text.replace(/^\uFEFF/, '')))
  } catch (error) {
    throw new CommandFailed(`package.json cannot be read: ${(error as Error).message}`)
  }
}

/** Only what is what it should be: anything may stand in a file that people write. */
function manifestOf(value: unknown): Manifest {
  if (typeof value !== 'object' || value === null) throw new Error('it holds no object')
  const { type, main, workspaces, ...more } = value as Record<string, unknown>
  const tables = ['scripts', 'dependencies', 'devDependencies'].map((name) => [name, textsIn(more[name])])
  return {
    workspaces,
    ...(typeof type === 'string' && { type }),
    ...(typeof main === 'string' && { main }),
    ...Object.fromEntries(tables),
  }
}

function textsIn(value: unknown): Record<string, string> {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {})
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string'))
}

function namedFile(folder: string, path: string): string {
  const file = resolve(folder, path)
  const inside = relative(folder, file)
  if (readText(folder, inside) === null) throw new CommandFailed(`There is no file ${file}.`)
  return inside
}

/** What the scripts start, then what package.json calls main, then the usual names. */
function entriesOf(folder: string, { main, scripts = {} }: Manifest): string[] {
  const started = ['start', 'dev', 'serve', 'start:dev', 'develop'].flatMap((name) => startedBy(scripts[name] ?? ''))
  const usual = ['', 'src/'].flatMap((at) => USUAL_NAMES.flatMap((name) => ENDINGS.map((end) => `${at}${name}.${end}`)))
  const asked = [...started, ...(main ? [main] : [])].flatMap((path) => [...sourcesOf(path), path])
  return [...asked, ...usual]
    .map((path) => normalize(path))
    .filter((path) => !/^(\.\.|\/|(dist|build|out|lib|node_modules)\/)/.test(path))
    .filter((path, i, all) => all.indexOf(path) === i && readText(folder, path) !== null)
}

/** The files that a script hands to Node.js or to one of the programs that run TypeScript. */
function startedBy(script: string): string[] {
  return script.split(/\s+/).filter((word) => /\.[cm]?[jt]s$/.test(word) && !word.startsWith('-'))
}

/** A compiled file stands for its source. */
function sourcesOf(path: string): string[] {
  const [, name] = /^(?:\.\/)?(?:dist|build|out|lib)\/(.+)\.[cm]?js$/.exec(path) ?? []
  if (name === undefined) return []
  return ['src/', ''].flatMap((at) => ['ts', 'mts', 'cts'].map((end) => `${at}${name.replace(/^src\//, '')}.${end}`))
}

/** The files beside it that an entry imports: many make the application in one file and listen in another. */
function importedBy(folder: string, file: SourceFile): SourceFile[] {
  return specifiersOf(file).flatMap((target) => {
    const base = normalize(join(dirname(file.path), target))
    const bare = base.replace(/\.[cm]?js$/, '')
    const choices = [base, ...ENDINGS.map((end) => `${bare}.${end}`)]
    const found = base.startsWith('..') ? undefined : choices.find((choice) => readText(folder, choice) !== null)
    const imported = found === undefined || !/\.[cm]?[jt]s$/.test(found) ? null : readSource(folder, found)
    return imported ? [imported] : []
  })
}

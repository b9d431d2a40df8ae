import { join } from 'node:path'
import { builtInSqlite } from '../../store/dialects/sqlite-library.js'
import { CommandFailed } from '../command.js'
import { randomPassword } from '../configuration.js'
import { detectFramework, type Framework, recipeLines, type Step, unsupportedReason } from './frameworks.js'
import { type Host, readHost, readText } from './host.js'
import { createFile, type NewFile, newFiles } from './new-files.js'

const FAULTBOARD_IMPORT = /['"]faultboard(\/\w+)?['"]/
const HTTP_MODULE = /['"](node:)?https?['"]/

/** Result of `init`: detected framework, created files, and steps for the user. */
export interface Plan {
  framework: string | null
  /** File that creates the application, if it was found. */
  entry: string | null
  /** Code to insert. Empty if Faultboard is already set up. */
  steps: readonly Step[]
  notes: readonly string[]
  files: readonly PlannedFile[]
  manualSteps: readonly string[]
  startCommand: string | null
  dashboardPath: string | null
  /** Packages of a monorepo in which init can run. */
  packages: readonly { folder: string; framework: string }[]
}

export interface PlannedFile extends Pick<NewFile, 'path' | 'lines'> {
  state: 'created' | 'would be created' | 'exists'
}

/** Detects the framework and creates the missing files, unless it is a dry run. */
export function planSetup(host: Host, isDryRun: boolean): Plan {
  const framework = detectFramework(
    host,
    host.sources.some((path) => mentions(host, path, HTTP_MODULE)),
  )
  return framework ? planFor(framework, host, isDryRun) : planWithoutFramework(host)
}

function planFor(framework: Framework, host: Host, isDryRun: boolean): Plan {
  const reason = unsupportedReason(framework, host)
  if (reason !== null) throw new CommandFailed(reason)
  const entry = entryFile(host, framework)
  const steps = framework
    .steps(host, entry)
    .filter(({ file }) => file === null || !mentions(host, file, FAULTBOARD_IMPORT))
  const isSetUp = steps.length === 0
  const dashboardPath = framework.dashboardPath?.(host) ?? '/error_dashboard'
  const startCommand = host.startCommand ?? (entry === null ? null : `node ${entry}`)
  return {
    framework: framework.name,
    entry,
    steps,
    notes: isSetUp ? [] : [...(framework.note ? [framework.note] : []), ...recipeLines(host)],
    files: isSetUp ? [] : newFiles(host, dashboardPath).map((file) => createUnlessExists(host, file, isDryRun)),
    manualSteps: isSetUp ? [] : manualSteps(host, startCommand, dashboardPath),
    startCommand,
    dashboardPath,
    packages: [],
  }
}

function planWithoutFramework(host: Host): Plan {
  const packages = host.workspaces.flatMap((folder) => {
    const framework = detectFramework(readHost(join(host.folder, folder)), false)
    return framework ? [{ folder, framework: framework.name }] : []
  })
  const recipes = recipeLines(host)
  const nothing = { framework: null, entry: null, steps: [], files: [], dashboardPath: null }
  return {
    ...nothing,
    notes: recipes,
    manualSteps: packages.length > 0 ? [] : stepsWithoutFramework(host, recipes.length > 0),
    startCommand: host.startCommand,
    packages,
  }
}

/** The first source that imports the framework. Next.js, Nuxt and Nitro have no such file. */
function entryFile(host: Host, { package: dependency }: Framework): string | null {
  const specifier = dependency === null ? HTTP_MODULE : new RegExp(`['"]${dependency}['"]`)
  return host.sources.find((path) => mentions(host, path, specifier)) ?? null
}

function mentions({ folder }: Host, path: string, specifier: RegExp): boolean {
  return specifier.test(readText(folder, path) ?? '')
}

function createUnlessExists({ folder }: Host, file: NewFile, isDryRun: boolean): PlannedFile {
  const { path, lines, exists } = file
  if (!exists && !isDryRun) createOrExplain(folder, file)
  return { path, lines, state: exists ? 'exists' : isDryRun ? 'would be created' : 'created' }
}

function createOrExplain(folder: string, file: NewFile): void {
  try {
    createFile(folder, file)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(
      `Cannot create ${file.path}: ${reason}. Use --dry-run to print the code without creating files.`,
    )
  }
}

function manualSteps(host: Host, startCommand: string | null, dashboardPath: string): string[] {
  const { folder } = host
  const username = 'FAULTBOARD_DASHBOARD_USERNAME=admin'
  const password = `FAULTBOARD_DASHBOARD_PASSWORD=${randomPassword()}`
  const ignored = readText(folder, '.gitignore')
  return [
    ...installSteps(host),
    'Insert the code above.',
    ...(ignored === null || ignored.includes('faultboard.sqlite3')
      ? []
      : ['Add faultboard.sqlite3* to .gitignore, unless you use another database.']),
    ...(host.buildCommand === null ? [] : [`Build the application:  ${host.buildCommand}`]),
    `Start the application with a generated password, which is not stored anywhere:\n       ${`${username} ${password} ${startCommand ?? ''}`.trim()}`,
    `To keep the password, add both variables to the environment of the application, for example to a file .env that it loads\n     (with dotenv, or with  node --env-file=.env). Do not commit .env.`,
    `Cause an error and open ${dashboardPath}.`,
  ]
}

/** Node.js before 22.16 needs a package for SQLite, the default database. */
function installSteps({ packages, packageManager }: Host): string[] {
  const install = `${packageManager} ${packageManager === 'npm' ? 'install' : 'add'}`
  const sqlite = '@photostructure/sqlite'
  return [
    ...(packages.faultboard === undefined ? [`${install} faultboard`] : []),
    ...(builtInSqlite() === null && packages[sqlite] === undefined
      ? [`With SQLite on Node.js before 22.16:  ${install} ${sqlite}`]
      : []),
  ]
}

function stepsWithoutFramework(host: Host, hasRecipe: boolean): string[] {
  return [
    ...installSteps(host),
    ...(hasRecipe ? ['Add the code of that section.'] : UNKNOWN_FRAMEWORK_STEPS),
    'Set FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD in the environment.',
  ]
}

const UNKNOWN_FRAMEWORK_STEPS = [
  "Wrap handlers that take a Request and return a Response:  withFaultboard(handler)  from 'faultboard/fetch'.",
  "Wrap a listener of node:http:  withFaultboard(listener)  from 'faultboard/node'.",
  "Report errors that you catch:  Tracker.report(error)  from 'faultboard'.",
  'If no handler serves the dashboard, start it:  npx faultboard serve',
]

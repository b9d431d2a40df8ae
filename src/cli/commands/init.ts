import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtInSqlite } from '../../store/dialects/sqlite-library.js'
import { CommandFailed, defineCommand } from '../command.js'
import { randomPassword } from '../configuration.js'
import { detectFramework, type Framework, recipeLines, type Step, unsupportedReason } from '../init/frameworks.js'
import { type Host, readHost, readText } from '../init/host.js'
import { createFile, type NewFile, newFiles } from '../init/new-files.js'
import { escapeText, print } from '../io/terminal.js'

export const init = defineCommand({
  name: 'init',
  summary: 'Detect the framework in this folder and print the code to add',
  text: 'Supports Express, Fastify, Koa, Hono, NestJS, Next.js, h3, Nitro, Nuxt and node:http. Creates faultboard.config and\n.env.example if they do not exist. Existing files are never changed: all other steps are printed.',
  examples: ['faultboard init', 'faultboard init --dry-run'],
  flags: { 'dry-run': { text: 'Print the code without creating files' } },
  async run(flags) {
    const host = readHost(process.cwd())
    const framework = detectFramework(
      host,
      host.sources.some((path) => mentions(host, path, HTTP_MODULE)),
    )
    if (!framework) return printUnknownFramework(host)
    const reason = unsupportedReason(framework, host)
    if (reason !== null) throw new CommandFailed(reason)

    const entry = entryFile(host, framework)
    print(`Found ${framework.name}${entry === null ? '' : ` in ${entry}`}.`)
    const steps = framework.steps(host, entry).filter(({ file }) => file === null || !mentions(host, file, FAULTBOARD))
    if (steps.length === 0) {
      print('Faultboard is already set up. Nothing to do.')
      return 0
    }
    steps.forEach(printStep)
    for (const note of [...(framework.note ? [framework.note] : []), ...recipeLines(host)]) print(`\n${note}`)
    const dashboardPath = framework.dashboardPath?.(host) ?? '/error_dashboard'
    createFiles(host, newFiles(host, dashboardPath), flags['dry-run'])
    printNextSteps(host, entry, dashboardPath)
    return 0
  },
})

const FAULTBOARD = /['"]faultboard(\/\w+)?['"]/
const HTTP_MODULE = /['"](node:)?https?['"]/

/** The first source that imports the framework. Next.js, Nuxt and Nitro have no such file. */
function entryFile(host: Host, { package: dependency }: Framework): string | null {
  const specifier = dependency === null ? HTTP_MODULE : new RegExp(`['"]${dependency}['"]`)
  return host.sources.find((path) => mentions(host, path, specifier)) ?? null
}

function mentions({ folder }: Host, path: string, specifier: RegExp): boolean {
  return specifier.test(readText(folder, path) ?? '')
}

function printStep({ file, place, code }: Step): void {
  print(`\n${file ?? 'The file that creates the application'}, ${place}:\n`)
  for (const line of code) print(line === '' ? '' : `  ${line}`)
}

function createFiles({ folder }: Host, files: readonly NewFile[], isDryRun: boolean): void {
  print('')
  for (const file of files) {
    if (file.exists) {
      print(`${file.path}: exists, not changed. It needs:\n`)
      for (const line of file.lines) print(`  ${escapeText(line)}`)
      print('')
    } else if (isDryRun) {
      print(`${file.path}: would be created.`)
    } else {
      createFile(folder, file)
      print(`${file.path}: created.`)
    }
  }
}

function printNextSteps(host: Host, entry: string | null, dashboardPath: string): void {
  const { folder } = host
  const start = host.startCommand ?? (entry === null ? '' : `node ${entry}`)
  const credentials = `FAULTBOARD_DASHBOARD_USERNAME=admin FAULTBOARD_DASHBOARD_PASSWORD=${randomPassword()}`
  const copy = existsSync(join(folder, '.env')) ? 'cat .env.example >> .env' : 'cp .env.example .env'
  const ignored = readText(folder, '.gitignore')
  const steps = [
    ...installSteps(host),
    'Insert the code above.',
    ...(ignored === null || ignored.includes('faultboard.sqlite3')
      ? []
      : ['Add faultboard.sqlite3* to .gitignore, unless you use another database.']),
    `Start the application with a generated password, which is not stored anywhere:\n       ${`${credentials} ${start}`.trim()}`,
    `To keep a password, run  ${copy}  and set it there. Do not commit .env.`,
    `Cause an error and open ${dashboardPath}.`,
  ]
  printManualSteps('Manual steps:', steps)
  print('\nMore about each framework: docs/frameworks.md in the package.')
}

function printManualSteps(heading: string, steps: readonly string[]): void {
  print(`\n${heading}`)
  steps.forEach((step, index) => {
    print(`  ${index + 1}. ${step}`)
  })
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

function printUnknownFramework(host: Host): number {
  const packages = host.workspaces.flatMap((folder) => {
    const framework = detectFramework(readHost(join(host.folder, folder)), false)
    return framework ? [`  cd ${folder} && npx faultboard init   # ${framework.name}`] : []
  })
  if (packages.length > 0) {
    print("This is the root of a monorepo. Run init in the application's package:\n")
    for (const line of packages) print(line)
    return 1
  }
  const recipes = recipeLines(host)
  for (const line of recipes.length > 0 ? recipes : ['No supported framework found.']) print(line)
  printManualSteps('Manual steps:', [
    ...installSteps(host),
    ...(recipes.length > 0 ? ['Add the code of that section.'] : UNKNOWN_FRAMEWORK_STEPS),
    'Set FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD in the environment.',
  ])
  return 1
}

const UNKNOWN_FRAMEWORK_STEPS = [
  "Wrap handlers that take a Request and return a Response:  withFaultboard(handler)  from 'faultboard/fetch'.",
  "Wrap a listener of node:http:  withFaultboard(listener)  from 'faultboard/node'.",
  "Report errors that you catch:  Tracker.report(error)  from 'faultboard'.",
  'If no handler serves the dashboard, start it:  npx faultboard serve',
]

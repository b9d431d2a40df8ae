import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CommandFailed, defineCommand } from '../command.js'
import { randomPassword } from '../configuration.js'
import { agreed } from '../init/agreed.js'
import { environmentFiles, uncommitted } from '../init/environment-files.js'
import { changedText, type FileChange } from '../init/file-change.js'
import type { Plan } from '../init/framework.js'
import { type Host, readHost } from '../init/host.js'
import { packageManager } from '../init/package-manager.js'
import { planFor } from '../init/recognise.js'
import { replaceAll } from '../init/replace-all.js'
import { coloured, unifiedDiff } from '../init/unified-diff.js'
import { complain, print } from '../io/terminal.js'

export const init = defineCommand({
  name: 'init',
  summary: 'Add Faultboard to the application in this folder, after showing what it would change',
  text: 'It knows Express, Fastify, Koa, Hono, NestJS, Next.js, h3, Nitro, Nuxt and plain node:http. What it does not understand\nit leaves alone, and prints the lines to add by hand.',
  examples: ['faultboard init', 'faultboard init src/server.ts', 'faultboard init --dry-run'],
  argument: { name: 'FILE', text: 'The file in which the application is made; left out: it is looked for' },
  flags: {
    yes: { text: 'Write it without asking' },
    'dry-run': { text: 'Show what would be written, and write nothing' },
  },
  async run(flags, named) {
    const host = readHost(process.cwd(), named)
    const plan = planFor(host)
    if (plan.present.length > 0 && plan.changes.length === 0) return already(plan)
    if (plan.changes.length === 0) return leave(plan)
    const changes = [...plan.changes, ...environmentFiles(host.folder, pathOf(plan))]
    if (host.folder !== process.cwd()) print(`In ${relative('', host.folder)}:`)
    show(plan, changes)
    warn(host.folder, changes)
    if (flags['dry-run']) return say('Nothing was written, because of --dry-run.', 0)
    if (!flags.yes && !(await agreed({ input: process.stdin, output: process.stdout })))
      return say('Nothing was written.', 1)
    write(host.folder, changes)
    tellNext(host, plan)
    return 0
  },
})

function already({ present, by_hand }: Plan): number {
  print(`Faultboard is there already, in ${present.join(', ')}. Nothing was written.`)
  tellHands({ by_hand })
  return 0
}

function leave(plan: Plan): number {
  print(`Found ${plan.found}. Nothing was written.`)
  tellHands(plan)
  print('\nEvery framework, with where its lines go: docs/frameworks.md of the package.')
  return 1
}

function show({ found }: Plan, changes: readonly FileChange[]): void {
  print(`Found ${found}.\n`)
  const lines = changes.flatMap((change) => unifiedDiff(change)).map(printable)
  for (const line of isColourful() ? coloured(lines) : lines) print(line)
  print('')
}

function warn(folder: string, changes: readonly FileChange[]): void {
  const dirty = uncommitted(
    folder,
    changes.filter(({ before }) => before !== null).map(({ path }) => path),
  )
  if (dirty.length > 0) complain(`Beware: ${dirty.join(', ')} has changes that are not committed yet.`)
}

/** Only what was shown: a file that changed while the question stood is left alone, and with it all others. */
function write(folder: string, changes: readonly FileChange[]): void {
  for (const { path, before } of changes) {
    const file = join(folder, path)
    const isSame = before === null ? !existsSync(file) : isText(file, before)
    if (!isSame) throw new CommandFailed(`${path} has changed meanwhile. Nothing was written: run it again.`)
  }
  replaceAll(changes.map((change) => ({ file: join(folder, change.path), text: changedText(change) })))
  print(`Written: ${changes.map(({ path }) => path).join(', ')}.`)
}

/** By bytes: what is not UTF-8 reads the same as another that is not. */
function isText(file: string, text: string): boolean {
  return existsSync(file) && readFileSync(file).equals(Buffer.from(text))
}

function tellNext(host: Host, plan: Plan): void {
  tellHands(plan)
  const manager = packageManager(host.folder)
  const where = host.folder === process.cwd() ? '' : `cd ${relative('', host.folder)} && `
  const steps = [
    ...(host.packages.faultboard === undefined
      ? [`${where}${manager} ${manager === 'npm' ? 'install' : 'add'} faultboard`]
      : []),
    ...startSteps(host, plan, where, manager),
    `Make an error, and open ${pathOf(plan)}.`,
  ]
  print('\nNext:')
  steps.forEach((step, index) => {
    print(`  ${index + 1}. ${step}`)
  })
}

function startSteps(host: Host, plan: Plan, where: string, manager: string): string[] {
  const { folder, files, start_script } = host
  // What only adds files is started by the framework's own program, which reads .env too.
  const isRun = plan.changes.some(({ path }) => files.some((file) => file.path === path))
  const entry = isRun && /\.[cm]?js$/.test(files[0]?.path ?? '') ? files[0]?.path : undefined
  const own = entry === undefined ? '…' : `node ${entry}`
  const script = start_script === 'start' ? `${manager} start` : `${manager} run ${start_script}`
  const variables = `FAULTBOARD_DASHBOARD_USERNAME=admin FAULTBOARD_DASHBOARD_PASSWORD=${randomPassword()}`
  const kept = existsSync(join(folder, '.env')) ? 'cat .env.example >> .env' : 'cp .env.example .env'
  return [
    `Start your application, with a password made up just now that is written down nowhere else:\n       ${where}${variables} ${start_script === null ? own : script}`,
    `To keep such a password:  ${where}${kept}  and write it there; that file is not for git.${isRun ? `\n     Start with  node --env-file=.env ${entry ?? '…'}` : ''}`,
  ]
}

function pathOf({ dashboard_path = '/error_dashboard' }: Plan): string {
  return dashboard_path
}

function tellHands({ by_hand }: Pick<Plan, 'by_hand'>): void {
  for (const { reason, lines } of by_hand) {
    print(`\nTo be done by hand, because ${reason}:\n`)
    for (const line of lines) print(`  ${line}`)
  }
}

/** What a terminal would obey is left out of what is shown. */
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === '\t' ? character : ''))
}

function isColourful(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR
}

function say(text: string, exit_code: number): number {
  print(text)
  return exit_code
}

import { defineCommand } from '../command.js'
import type { Step } from '../init/frameworks.js'
import { readHost } from '../init/host.js'
import { type Plan, type PlannedFile, planSetup } from '../init/plan.js'
import { colorize } from '../io/colors.js'
import { escapeText, print, printJson } from '../io/terminal.js'

export const init = defineCommand({
  name: 'init',
  summary: 'Detect the framework in this folder and print the code to add',
  text: 'Supports Express, Fastify, Koa, Hono, NestJS, Next.js, h3, Nitro, Nuxt and node:http. Creates faultboard.config and\n.env.example if they do not exist. Existing files are never changed: all other steps are printed.',
  examples: ['faultboard init', 'faultboard init --dry-run'],
  flags: {
    'dry-run': { text: 'Print the code without creating files' },
    json: { text: 'Print the code, the files and the manual steps as JSON' },
  },
  async run(flags) {
    const plan = planSetup(readHost(process.cwd()), flags['dry-run'])
    if (flags.json) printJson(toJson(plan))
    else printPlan(plan)
    return plan.framework === null ? 1 : 0
  },
})

function toJson({ manualSteps, startCommand, dashboardPath, files, ...plan }: Plan): object {
  return {
    ...plan,
    files: files.map(({ state, ...file }) => ({ ...file, state: state.replaceAll(' ', '_') })),
    manual_steps: manualSteps.map((step) => step.replace(/\s+/g, ' ')),
    start_command: startCommand,
    dashboard_path: dashboardPath,
  }
}

function printPlan(plan: Plan): void {
  if (plan.packages.length > 0) printPackages(plan)
  else if (plan.framework === null) printUnknownFramework(plan)
  else printFramework(plan)
}

function printPackages({ packages }: Plan): void {
  print("This is the root of a monorepo. Run init in the application's package:\n")
  for (const { folder, framework } of packages) print(`  cd ${folder} && npx faultboard init   # ${framework}`)
}

function printUnknownFramework({ notes, manualSteps }: Plan): void {
  for (const line of notes.length > 0 ? notes : ['No supported framework found.']) print(line)
  printManualSteps(manualSteps)
}

function printFramework({ framework, entry, steps, notes, files, manualSteps }: Plan): void {
  print(`Found ${framework}${entry === null ? '' : ` in ${entry}`}.`)
  if (steps.length === 0) {
    print('Faultboard is already set up. Nothing to do.')
    return
  }
  steps.forEach(printStep)
  for (const note of notes) print(`\n${note}`)
  print('')
  files.forEach(printFile)
  printManualSteps(manualSteps)
  print('\nMore about each framework: docs/frameworks.md in the package.')
}

function printStep({ file, place, code }: Step): void {
  print(`\n${colorize('bold', `${file ?? 'The file that creates the application'}, ${place}:`)}\n`)
  for (const line of code) print(line === '' ? '' : `  ${line}`)
}

function printFile({ path, lines, state }: PlannedFile): void {
  if (state !== 'exists') {
    print(`${path}: ${state}.`)
    return
  }
  print(`${path}: exists, not changed. It needs:\n`)
  for (const line of lines) print(`  ${escapeText(line)}`)
  print('')
}

function printManualSteps(steps: readonly string[]): void {
  print(`\n${colorize('bold', 'Manual steps:')}`)
  steps.forEach((step, index) => {
    print(`  ${index + 1}. ${step}`)
  })
}

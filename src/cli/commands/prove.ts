import { mkdtemp, rm } from 'node:fs/promises'
import { arch, availableParallelism, loadavg, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { choice, integer, parseInput } from '../../model/input/input.js'
import { VERSION } from '../../model/version.js'
import { resolveConfiguration } from '../../options.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, defineCommand, type Flags, type ParsedFlags } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { stopSignal } from '../host/stop-signal.js'
import { colorize } from '../io/colors.js'
import { print, printError, printJson } from '../io/terminal.js'
import { type Measured, measureScenario } from '../prove/measure.js'
import { markdownReport, type Report } from '../prove/report.js'
import { SCENARIOS, scaleFor } from '../prove/scenarios.js'
import { openScratchDatabase } from '../prove/scratch-database.js'
import { createDatabaseFrom } from '../tracker-database.js'

const DEFAULT_ERRORS = 100_000
const QUICK_ERRORS = 10_000
const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name)
/** Conventional exit code after SIGINT. */
const STOPPED_EXIT_CODE = 130

const FLAGS = {
  database: {
    value: 'URL',
    text: 'Empty scratch database: sqlite:FILE, postgres://… or mysql://… (default: a temporary SQLite file)',
  },
  config: COMMON_FLAGS.config,
  quick: { text: `Use ${QUICK_ERRORS} errors per storm instead of ${DEFAULT_ERRORS}, and shorter failures` },
  errors: { value: 'N', text: 'Use N errors per storm, from 100 to 1000000' },
  scenario: {
    value: 'NAME',
    text: `Measure only one scenario: ${SCENARIO_NAMES.join(', ')}`,
    allowed: SCENARIO_NAMES,
  },
  json: { text: 'Print JSON instead of Markdown' },
} as const satisfies Flags

const FLAG_VALUES = v.object({
  '--errors': v.optional(integer({ min: 100, max: 1_000_000 })),
  '--scenario': v.optional(choice(SCENARIO_NAMES)),
})

export const prove = defineCommand({
  name: 'prove',
  summary: 'Measure on this machine how storms, outages and dashboard viewers affect a host',
  text: 'Runs a small node:http application with and without Faultboard during storms of errors, a hanging database, a full disk\nand with 20 dashboard viewers. Prints a Markdown table: response times, event-loop stalls, memory, descriptors, counts.\nUses the options of your configuration, but never its database, spool folder, notification channels, job engine and\ncallbacks. Exits with 1 if a limit is exceeded. Takes about seven minutes, or two with --quick.',
  examples: [
    'faultboard prove --quick',
    'faultboard prove > impact.md',
    'faultboard prove --database postgres://localhost/scratch --json',
  ],
  flags: FLAGS,
  async run(flags) {
    const stop = stopSignal()
    const values = parseInput(FLAG_VALUES, { '--errors': flags.errors, '--scenario': flags.scenario })
    const { '--errors': errors = flags.quick ? QUICK_ERRORS : DEFAULT_ERRORS, '--scenario': selected } = values
    const scratchUrl = await readScratchUrl(flags)
    const load = readLoad()
    const folder = await mkdtemp(join(tmpdir(), 'faultboard-prove-'))
    try {
      const url = scratchUrl ?? `sqlite:${join(folder, 'prove.sqlite3')}`
      const database = await openScratchDatabase(url)
      try {
        const setup = { ...{ config: flags.config, url, database, folder, stop }, scale: scaleFor(errors) }
        const scenarios: Measured[] = []
        for (const scenario of SCENARIOS) {
          if (scenario.name !== (selected ?? scenario.name)) continue
          scenarios.push(await measureScenario(scenario, { ...setup, progress: printError }))
        }
        const address = scratchUrl === null ? null : database.dialect.address
        const report = describeRun(scenarios, { command: commandLine(flags, address), address, load })
        if (flags.json) printJson(report)
        else print(colorizeReport(markdownReport(report), report.passed))
        return report.passed ? 0 : 1
      } finally {
        await database.close()
      }
    } catch (error) {
      if (!stop.aborted) throw error
      printError('Stopped.')
      return STOPPED_EXIT_CODE
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
})

/** Colors the verdict and the rows that exceed a limit. */
function colorizeReport(markdown: string, passed: boolean): string {
  const [verdict = '', ...lines] = markdown.split('\n')
  return [
    colorize(passed ? 'green' : 'red', verdict),
    ...lines.map((line) => (line.includes('❌') ? colorize('red', line) : line)),
  ].join('\n')
}

type ProveFlags = ParsedFlags<typeof FLAGS>

/** Validates the configuration before anything starts. Returns the URL of --database, or null for a temporary file. */
async function readScratchUrl(flags: ProveFlags): Promise<string | null> {
  const { settings } = await readConfiguration({ ...flags, 'application-name': undefined })
  const { options } = resolveConfiguration(settings)
  const { dialect } = createDatabaseFrom(options)
  if (flags.database !== undefined) {
    if (!dialect.isEmbedded || dialect.file) return String(options.database)
    throw usageError('--database must be a file or a server, because the measured host is a separate process')
  }
  if (!dialect.isEmbedded) {
    printError(
      `Using a temporary SQLite file, because the configured database ${dialect.address} must not be changed. To measure its server, create an empty database there and pass its URL as --database.`,
    )
  }
  return null
}

/** Load average of the last minute, before the measurements add to it. */
function readLoad(): number {
  const load = loadavg()[0] ?? 0
  if (load > availableParallelism() / 2) {
    printError(
      `This machine is busy (load ${load.toFixed(1)}, ${availableParallelism()} cores): the results may exceed the limits.`,
    )
  }
  return load
}

interface RunFacts {
  command: string
  address: string | null
  load: number
}

function describeRun(scenarios: Measured[], { command, address, load }: RunFacts): Report {
  return {
    passed: scenarios.every(({ checks }) => checks.every(({ passed }) => passed)),
    command,
    machine: {
      faultboard: VERSION,
      node: process.version,
      platform: `${platform()} ${arch()}`,
      cores: availableParallelism(),
      load,
      database: address ?? 'temporary SQLite file',
    },
    scenarios,
  }
}

/** The command with a masked password. */
function commandLine({ quick, errors, scenario }: ProveFlags, address: string | null): string {
  const values = Object.entries({ errors, scenario, database: address }).filter(([, value]) => value)
  return [
    'npx faultboard prove',
    ...(quick ? ['--quick'] : []),
    ...values.flatMap(([name, value]) => `--${name} ${value}`),
  ].join(' ')
}

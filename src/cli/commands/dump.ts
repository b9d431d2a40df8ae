import * as v from 'valibot'
import { resolveConfiguration } from '../../config/resolve.js'
import { captureDiagnosticDump } from '../../diagnostics/dumps/capture-dump.js'
import { parseInput } from '../../model/input.js'
import { wrongUse } from '../arguments.js'
import { COMMON_FLAGS, type CommonFlags, defineCommand } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { print, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'
import { connectTo, type Remote, type WantedDump } from '../remote-dashboard.js'

export const dump = defineCommand({
  name: 'dump',
  summary: 'Capture a diagnostic dump of a running application',
  text: 'With --url it is the process that answers there which is dumped, and its enable_diagnostic_dump must be on.\nWithout --url it is this command itself, which tells whether configuration and database are right.\nName and password of the dashboard come from the flags, the address, the configuration file or the environment\n(FAULTBOARD_DASHBOARD_USERNAME, FAULTBOARD_DASHBOARD_PASSWORD); a flag can be seen by every user of the machine.',
  examples: [
    'faultboard dump "before the deploy" --url http://127.0.0.1:3000/error_dashboard',
    'NOTE=leak faultboard dump --url https://shop.example/error_dashboard --cpu-profile-ms 5000 --json',
  ],
  argument: { name: 'NOTE', text: 'What it is about; left out: the environment variable NOTE' },
  flags: {
    ...COMMON_FLAGS,
    url: { value: 'URL', text: 'Address of the dashboard, with its mount path' },
    username: { value: 'NAME', text: 'Name for the dashboard' },
    password: { value: 'TEXT', text: 'Password for the dashboard' },
    report: { text: 'With the report of Node.js' },
    'cpu-profile-ms': { value: 'N', text: 'With a CPU profile of so many milliseconds, at most 30000' },
    'heap-snapshot': {
      text: 'With a heap snapshot: the application stands still meanwhile; needs enable_heap_snapshots',
    },
    json: { text: 'Print the dump as JSON' },
  },
  async run(flags, argument) {
    const wanted = parseInput(WANTED, {
      NOTE: argument ?? process.env.NOTE,
      '--cpu-profile-ms': flags['cpu-profile-ms'],
    })
    const options = {
      note: wanted.NOTE,
      report: flags.report,
      cpu_profile_ms: wanted['--cpu-profile-ms'],
      heap_snapshot: flags['heap-snapshot'],
    }
    if (flags.url !== undefined) return ofRunning(await connectTo({ ...flags, url: flags.url }), options, flags.json)
    for (const name of ['username', 'password'] as const) {
      if (flags[name] !== undefined) throw wrongUse(`--${name} is for the dashboard at --url URL, which is missing`)
    }
    if (options.cpu_profile_ms > 0 || options.heap_snapshot) {
      throw wrongUse('--cpu-profile-ms and --heap-snapshot are of a running application: name it by --url URL')
    }
    return ofItself(flags, options, flags.json)
  },
})

const { note, cpu_profile_ms } = captureDiagnosticDump.input.entries

/** The command's own rules, under the names that were typed. */
const WANTED = v.object({ NOTE: note, '--cpu-profile-ms': cpu_profile_ms })

async function ofRunning(remote: Remote, options: WantedDump, json: boolean): Promise<number> {
  const dump_id = await remote.capture(options)
  if (json) printJson(await remote.read(dump_id))
  else print(remote.addressOf(dump_id))
  return 0
}

async function ofItself(flags: CommonFlags, options: WantedDump, json: boolean): Promise<number> {
  const { settings } = await readConfiguration(flags)
  const { enable_diagnostic_dump } = resolveConfiguration(withoutDashboard(settings)).options
  // Whoever may run this command on the database needs no switch to be allowed to look at the command itself.
  const own = { ...withoutDashboard(settings), enable_diagnostic_dump: true }
  return withTracker(own, async ({ Commands, Queries }) => {
    const { id } = await Commands.CaptureDiagnosticDump.call({ ...options, actor: 'the command line' })
    if (json) printJson({ dump: await Queries.FindDiagnosticDump.call({ dump_id: id }) })
    else {
      print(`Diagnostic dump ${id} of this command itself was captured.`)
      print(
        enable_diagnostic_dump
          ? 'The page of the dumps shows it.'
          : 'The page of the dumps shows it where the application has enable_diagnostic_dump on, which is off here; --json prints a dump.',
      )
      print('That of a running application:  faultboard dump --url http://127.0.0.1:3000/error_dashboard')
    }
    return 0
  })
}

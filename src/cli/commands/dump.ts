import * as v from 'valibot'
import { captureDiagnosticDump } from '../../diagnostics/dumps/capture-dump.js'
import { parseInput } from '../../model/input/input.js'
import { resolveConfiguration } from '../../options.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, type CommonFlags, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { print, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'
import { connectTo, type DumpRequest, type RemoteDashboard } from '../remote-dashboard.js'

export const dump = defineCommand({
  name: 'dump',
  summary: 'Capture a diagnostic dump of a running application',
  text: "With --url, dumps the process that serves that dashboard; its enable_diagnostic_dump must be on.\nWithout --url, dumps this command's own process, which verifies the configuration and the database.\nThe dashboard credentials come from the flags, the URL, the configuration file or the environment: FAULTBOARD_TOKEN,\nor FAULTBOARD_DASHBOARD_USERNAME and FAULTBOARD_DASHBOARD_PASSWORD. Flags are visible to every user on the machine.",
  examples: [
    'faultboard dump "before the deploy" --url http://127.0.0.1:3000/error_dashboard',
    'NOTE=leak faultboard dump --url https://shop.example/error_dashboard --cpu-profile-ms 5000 --json',
  ],
  argument: { name: 'NOTE', text: 'Note about the dump (default: the environment variable NOTE)' },
  flags: {
    ...COMMON_FLAGS,
    url: { value: 'URL', text: 'URL of the dashboard, with its mount path' },
    username: { value: 'NAME', text: 'Username for the dashboard' },
    password: { value: 'TEXT', text: 'Password for the dashboard' },
    token: { value: 'TOKEN', text: 'API token of an admin, instead of username and password' },
    report: { text: 'Include the Node.js diagnostic report' },
    'cpu-profile-ms': { value: 'N', text: 'Include a CPU profile of this duration, at most 30000' },
    'heap-snapshot': {
      text: 'Include a heap snapshot; pauses the application, requires enable_heap_snapshots',
    },
    json: { text: 'Print the dump as JSON' },
  },
  async run(flags, argument) {
    const flagValues = parseInput(DUMP_FLAGS, {
      NOTE: argument ?? process.env.NOTE,
      '--cpu-profile-ms': flags['cpu-profile-ms'],
    })
    const options = {
      note: flagValues.NOTE,
      report: flags.report,
      cpu_profile_ms: flagValues['--cpu-profile-ms'],
      heap_snapshot: flags['heap-snapshot'],
    }
    if (flags.url !== undefined)
      return dumpRunningApplication(await connectTo({ ...flags, url: flags.url }), options, flags.json)
    for (const name of ['username', 'password', 'token'] as const) {
      if (flags[name] !== undefined) throw usageError(`--${name} requires --url URL`)
    }
    if (options.cpu_profile_ms > 0 || options.heap_snapshot) {
      throw usageError('--cpu-profile-ms and --heap-snapshot require a running application: add --url URL')
    }
    return dumpOwnProcess(flags, options, flags.json)
  },
})

const { note, cpu_profile_ms } = captureDiagnosticDump.input.entries

/** Input schema keyed by the names that the user types, so that error messages show them. */
const DUMP_FLAGS = v.object({ NOTE: note, '--cpu-profile-ms': cpu_profile_ms })

async function dumpRunningApplication(remote: RemoteDashboard, options: DumpRequest, json: boolean): Promise<number> {
  const dump_id = await remote.capture(options)
  if (json) printJson(await remote.read(dump_id))
  else print(remote.dumpUrl(dump_id))
  return 0
}

async function dumpOwnProcess(flags: CommonFlags, options: DumpRequest, json: boolean): Promise<number> {
  const { settings } = await readConfiguration(flags)
  const { enable_diagnostic_dump } = resolveConfiguration(settings).options
  // A user with access to the database may dump this command's own process without enabling the option.
  const dumpSettings = { ...settings, enable_diagnostic_dump: true }
  return withTracker(dumpSettings, async ({ Commands, Queries }) => {
    const { id } = await Commands.CaptureDiagnosticDump.call({ ...options, actor: 'the command line' })
    if (json) printJson({ dump: await Queries.FindDiagnosticDump.call({ dump_id: id }) })
    else {
      print(`Captured diagnostic dump ${id} of this command's own process.`)
      print(
        enable_diagnostic_dump
          ? 'The dump is listed on the dumps page.'
          : 'The dump is listed on the dumps page if the application has enable_diagnostic_dump on, which is off here. Use --json to print it.',
      )
      print('To dump a running application:  faultboard dump --url http://127.0.0.1:3000/error_dashboard')
    }
    return 0
  })
}

import * as v from 'valibot'
import { parseInput } from '../../model/input/input.js'
import { cleanupErrors } from '../../triage/commands/cleanup-errors.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { progressLine } from '../io/progress.js'
import { print, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

export const cleanup = defineCommand({
  name: 'cleanup',
  summary: 'Delete errors that have not been seen for retention_days',
  examples: ['faultboard cleanup', 'faultboard cleanup --days 30'],
  flags: {
    ...COMMON_FLAGS,
    days: {
      value: 'N',
      text: 'Delete errors not seen for this many days (default: retention_days from the configuration)',
    },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const days = parseInput(DAYS_FLAG, { '--days': flags.days })['--days']
    const { settings } = await readConfiguration(flags)
    const on_progress = progressLine({ label: 'Deleting', unit: 'errors', isQuiet: flags.json })
    const result = await withTracker(settings, (tracker) =>
      tracker.Commands.CleanupErrors.call({ retention_days: days, on_progress }),
    )
    if (flags.json) printJson(result)
    else if (result.older_than === null) print('Nothing deleted: retention_days is null, which keeps all errors.')
    else print(`Deleted ${errorCount(result.deleted)} last seen before ${result.older_than}.`)
    return 0
  },
})

/** Input schema keyed by the flag, so that error messages show the name that the user typed. */
const DAYS_FLAG = v.object({ '--days': cleanupErrors.input.entries.retention_days })

function errorCount(errors: number): string {
  return errors === 1 ? '1 error' : `${errors} errors`
}

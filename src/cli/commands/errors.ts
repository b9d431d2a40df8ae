import { parseInput } from '../../model/input/input.js'
import { localDateTime } from '../../model/time.js'
import type { ErrorsPage } from '../../triage/list/errors-list.js'
import type { ErrorSummary } from '../../triage/queries/error-record.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { FILTER_FLAGS, FILTER_SCHEMA, filterFrom } from '../filter-flags.js'
import { print, printError, printJson, terminalWidth } from '../io/terminal.js'
import { type Column, textTable } from '../io/text-table.js'
import { withKnownScope } from '../known-scope.js'
import { withTracker } from '../open-tracker.js'

export const errors = defineCommand({
  name: 'errors',
  summary: 'List recorded errors in the terminal',
  text: 'Accepts the same filters as the error list on the dashboard.',
  examples: [
    'faultboard errors --unresolved --severity critical',
    "faultboard errors --query 'is:unresolved user:42 release:5.12 declined'",
    'faultboard errors --search "cart is empty" --timeframe last_7_days --json',
  ],
  flags: {
    ...COMMON_FLAGS,
    'application-name': { value: 'NAME', text: 'Only errors in this application' },
    ...FILTER_FLAGS,
    json: { text: 'Print JSON in the same format as the dashboard' },
  },
  async run(flags) {
    parseInput(FILTER_SCHEMA, Object.fromEntries(Object.entries(flags).map(([name, value]) => [`--${name}`, value])))
    const { 'application-name': application_name, ...otherFlags } = flags
    const { settings } = await readConfiguration({ ...otherFlags, 'application-name': undefined })
    return withTracker(settings, async (tracker) => {
      const { Queries, config } = tracker
      const filter = await withKnownScope(filterFrom(flags), application_name, Queries)
      const { application_id, environment } = filter
      const page = await Queries.ErrorsList.page(filter)
      if (flags.json) printJson(page)
      else {
        const environments = environment ? [] : await Queries.Environments.call({ application_id })
        printPage(page, columns(config.time_zone, { isMixed: environments.length > 1 }))
      }
      printError(`Read from ${(await tracker.stats()).database}.`)
      return 0
    })
  },
})

function printPage({ errors, pagination }: ErrorsPage, columns: readonly Column<ErrorSummary>[]): void {
  const { page, total_pages, total_count, total_is_lower_bound } = pagination
  if (total_count === 0) {
    print('No errors match.')
    return
  }
  for (const line of textTable(columns, errors, terminalWidth())) print(line)
  const next = page < total_pages ? ` Use --page ${page + 1} for more.` : ''
  const total = total_count === 1 ? '1 error' : `${total_count}${total_is_lower_bound ? '+' : ''} errors`
  print(`\n${total}, page ${page} of ${total_pages}.${next}`)
}

/** `isMixed` adds the environment, because the list can contain the same error several times. */
function columns(zone: string, { isMixed }: { isMixed: boolean }): Column<ErrorSummary>[] {
  const environment = {
    title: 'ENVIRONMENT',
    text: (error: ErrorSummary) => error.environment,
    limit: 16,
    dropPriority: 3,
  }
  return [
    { title: 'ID', text: ({ id }) => String(id), align: 'right' },
    { title: 'SEVERITY', text: ({ severity }) => severity, isState: true },
    { title: 'STATUS', text: stateText, dropPriority: 2, isState: true },
    { title: 'COUNT', text: ({ occurrence_count }) => String(occurrence_count), align: 'right' },
    { title: `LAST SEEN (${zone})`, text: ({ occurred_at }) => minuteText(occurred_at, zone), dropPriority: 1 },
    { title: 'APPLICATION', text: ({ application_name }) => application_name, limit: 20, dropPriority: 4 },
    ...(isMixed ? [environment] : []),
    { title: 'PLATFORM', text: ({ platform }) => platform, limit: 12, dropPriority: 5 },
    { title: 'ASSIGNED TO', text: ({ assigned_to }) => assigned_to ?? '', limit: 16, dropPriority: 6 },
    { title: 'ERROR', text: ({ error_type, message }) => (message ? `${error_type}: ${message}` : error_type) },
  ]
}

function stateText({ status, snoozed }: ErrorSummary): string {
  return snoozed ? `${status} (snoozed)` : status
}

function minuteText(iso: string, zone: string): string {
  const { year, month, day, hour, minute } = localDateTime(Date.parse(iso), zone)
  const twoDigits = (part: number) => String(part).padStart(2, '0')
  return `${year}-${twoDigits(month)}-${twoDigits(day)} ${twoDigits(hour)}:${twoDigits(minute)}`
}

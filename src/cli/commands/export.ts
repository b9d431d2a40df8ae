import { stat } from 'node:fs/promises'
import { parseInput } from '../../model/input/input.js'
import type { TrackerInstance } from '../../tracker.js'
import type { ErrorsListInput } from '../../triage/list/errors-list.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { FILTER_FLAGS, FILTER_SCHEMA, filterFrom } from '../filter-flags.js'
import { writeAtomically } from '../io/atomic-file.js'
import { progressLine } from '../io/progress.js'
import { jsonLine, printError, printJson } from '../io/terminal.js'
import { withKnownScope } from '../known-scope.js'
import { withTracker } from '../open-tracker.js'

const FORMATS = ['ndjson', 'csv'] as const
type Format = (typeof FORMATS)[number]

const { page, 'per-page': per_page, 'sort-by': sort_by, 'sort-direction': direction, ...FILTERS } = FILTER_FLAGS

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'Export errors to a file, as NDJSON or CSV',
  text: 'NDJSON contains everything that faultboard import needs to add the errors to another database: occurrences, counts,\nusers, comments, activities. CSV is for spreadsheets and contains one line per error.\nThe file contains data that your users sent. Protect it like your database.',
  examples: [
    'faultboard export errors.ndjson',
    'faultboard export critical.csv --severity critical --timeframe last_7_days',
    'faultboard export - | gzip > errors.ndjson.gz',
  ],
  argument: { name: 'FILE', text: 'Output file; - for standard output', isRequired: true },
  flags: {
    force: { text: 'Overwrite an existing file' },
    format: {
      value: 'WORD',
      text: 'ndjson or csv (default: by the extension of FILE, else ndjson)',
      allowed: FORMATS,
    },
    ...COMMON_FLAGS,
    'application-name': { value: 'NAME', text: 'Only errors in this application' },
    ...FILTERS,
    json: { text: 'Print the summary as JSON, on standard error if FILE is -' },
  },
  async run(flags, file) {
    if (file === undefined) throw usageError('faultboard export needs a FILE, or - for standard output')
    parseInput(FILTER_SCHEMA, Object.fromEntries(Object.entries(flags).map(([name, value]) => [`--${name}`, value])))
    const format = chooseFormat(flags.format, file)
    if (!flags.force) await requireNew(file)
    const { 'application-name': application_name, ...otherFlags } = flags
    const { settings } = await readConfiguration({ ...otherFlags, 'application-name': undefined })
    return withTracker(settings, async (tracker) => {
      const filter = await withKnownScope(filterFrom(flags), application_name, tracker.Queries)
      const count = { errors: 0, occurrences: 0 }
      const chunks = format === 'csv' ? table(tracker, filter, count) : records(tracker, filter, count)
      // Standard output is often piped to a program on the same terminal.
      const showProgress = progressLine({ label: 'Exporting', unit: 'errors', isQuiet: flags.json || file === '-' })
      const total = showProgress ? await countMatching(tracker, filter) : null
      await writeAtomically(
        file,
        forEach(chunks, () => showProgress?.(count.errors, total)),
      )
      if (flags.json) printSummaryJson(count, format, file)
      else printError(summaryText(count, format, file))
      return 0
    })
  },
})

/** Never overwrites a regular file without --force: it may be the only copy of another export. */
async function requireNew(file: string): Promise<void> {
  const existing = file === '-' ? null : await stat(file).catch(() => null)
  if (existing?.isFile()) {
    throw new CommandFailed(`${file} already exists. Choose another file, or overwrite it with --force.`)
  }
}

function chooseFormat(requested: string | undefined, file: string): Format {
  if (requested === undefined) return /\.csv$/i.test(file) ? 'csv' : 'ndjson'
  const found = FORMATS.find((format) => format === requested)
  if (!found) throw usageError(`--format must be one of ${FORMATS.join(', ')}`)
  return found
}

interface Count {
  errors: number
  occurrences: number
}

async function* records({ Queries }: TrackerInstance, filter: ErrorsListInput, count: Count): AsyncGenerator<string> {
  for await (const line of Queries.ExportErrors.records(filter)) {
    if (line.kind === 'error') {
      count.errors++
      count.occurrences += line.error.occurrence_count
    }
    yield `${jsonLine(line)}\n`
  }
}

async function* table({ Queries }: TrackerInstance, filter: ErrorsListInput, count: Count): AsyncGenerator<string> {
  count.errors = -HEADER_LINES
  for await (const rows of Queries.ExportErrors.csv(filter)) {
    count.errors += countRows(rows)
    yield rows
  }
}

/** Null if there are too many errors to count exactly. */
async function countMatching({ Queries }: TrackerInstance, filter: ErrorsListInput): Promise<number | null> {
  const { total_count, total_is_lower_bound } = (await Queries.ErrorsList.page({ ...filter, per_page: 1 })).pagination
  return total_is_lower_bound ? null : total_count
}

async function* forEach(chunks: AsyncIterable<string>, onChunk: () => void): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    onChunk()
    yield chunk
  }
}

/** The first row contains the column names. */
const HEADER_LINES = 1

/** A quoted message can contain line breaks. */
function countRows(csv: string): number {
  return csv.replace(/"[^"]*"/g, '').match(/\r\n/g)?.length ?? 0
}

/** Omits the occurrences for CSV, because `countRows` counts errors only. */
function printSummaryJson({ errors, occurrences }: Count, format: Format, file: string): void {
  const summary = {
    errors,
    occurrences: format === 'csv' ? null : occurrences,
    format,
    file: file === '-' ? null : file,
  }
  if (file === '-') printError(jsonLine(summary))
  else printJson(summary)
}

function summaryText({ errors, occurrences }: Count, format: Format, file: string): string {
  const occurrenceText =
    format === 'csv' ? '' : ` with ${occurrences} ${occurrences === 1 ? 'occurrence' : 'occurrences'}`
  return `Exported ${errors} ${errors === 1 ? 'error' : 'errors'}${occurrenceText}${file === '-' ? '' : ` to ${file}`}.`
}

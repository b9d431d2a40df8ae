import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { print, printJson, terminalWidth } from '../io/terminal.js'
import { textTable } from '../io/text-table.js'
import { withTracker } from '../open-tracker.js'

export const listSourceMaps = defineCommand({
  name: 'sourcemaps list',
  summary: 'List the releases with stored source maps',
  examples: ['faultboard sourcemaps list', 'faultboard sourcemaps list --release 1.4.0'],
  flags: {
    ...COMMON_FLAGS,
    release: { value: 'VERSION', text: 'List the scripts of this release' },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const { settings } = await readConfiguration(flags)
    const releases = await withTracker(settings, ({ Queries }) => Queries.SourceMaps.call({ release: flags.release }))
    if (flags.json) printJson({ releases })
    else if (releases.length === 0) {
      print(`No source maps are stored${flags.release === undefined ? '' : ` for release ${flags.release}`}.`)
      print('To store them:  faultboard sourcemaps upload DIR --release VERSION')
    } else if (flags.release !== undefined) for (const file of releases[0]?.files ?? []) print(file)
    else {
      const columns = [
        { title: 'RELEASE', text: ({ release }: Row) => release, limit: 40 },
        { title: 'SCRIPTS', text: ({ file_count }: Row) => String(file_count), align: 'right' as const },
        {
          title: 'KILOBYTES',
          text: ({ packed_bytes }: Row) => String(Math.ceil(packed_bytes / 1000)),
          align: 'right' as const,
        },
        { title: 'UPLOADED (UTC)', text: ({ created_at }: Row) => created_at.slice(0, 16).replace('T', ' ') },
      ]
      for (const line of textTable(columns, releases, terminalWidth())) print(line)
    }
    return 0
  },
})

interface Row {
  release: string
  file_count: number
  packed_bytes: number
  created_at: string
}

import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { print, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

export const deleteSourceMaps = defineCommand({
  name: 'sourcemaps delete',
  summary: 'Delete the source maps of a release',
  examples: ['faultboard sourcemaps delete --release 1.4.0'],
  flags: {
    ...COMMON_FLAGS,
    release: { value: 'VERSION', text: 'Release whose maps are deleted' },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const { release } = flags
    if (release === undefined) {
      throw usageError('--release is missing. Run  faultboard sourcemaps list  to see the releases')
    }
    const { settings } = await readConfiguration(flags)
    const { deleted } = await withTracker(settings, ({ Commands }) => Commands.DeleteSourceMaps.call({ release }))
    if (deleted === 0) {
      throw new CommandFailed(
        `No source maps are stored for release ${release}. Run  faultboard sourcemaps list  to see the releases.`,
      )
    }
    if (flags.json) printJson({ release, deleted })
    else print(`Deleted ${deleted === 1 ? '1 source map' : `${deleted} source maps`} of release ${release}.`)
    return 0
  },
})

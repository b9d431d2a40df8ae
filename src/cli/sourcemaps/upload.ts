import { resolve } from 'node:path'
import { TrackerError } from '../../model/errors.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { print, printError, printJson } from '../io/terminal.js'
import { describeTarget, withNewTracker } from '../open-tracker.js'
import { builtScripts, mapFolder, readScript, scriptsWithoutMap } from './collect.js'

export const uploadSourceMaps = defineCommand({
  name: 'sourcemaps upload',
  summary: 'Upload the source maps of a build to map browser and app stacks to the original source',
  text: 'Stores every NAME.js.map in DIR in the database of the tracker, with the sources of your own code for the lines\naround a frame; those of node_modules are skipped.\nThe release is the app_version that the clients report. Scripts are matched by URL: without --url-prefix the end of\nthe URL is compared, which works wherever the scripts are served from.\nThe maps do not have to be public, and Faultboard never serves them.',
  examples: [
    'faultboard sourcemaps upload dist/assets --release 1.4.0',
    'faultboard sourcemaps upload dist --release 1.4.0 --url-prefix https://cdn.shop.example/',
  ],
  argument: { name: 'DIR', text: 'Output folder of the build, with scripts and maps', isRequired: true },
  flags: {
    ...COMMON_FLAGS,
    release: { value: 'VERSION', text: 'The app_version that the clients of this build report' },
    'url-prefix': { value: 'URL', text: 'URL at which DIR is served (default: any)' },
    'without-sources': { text: 'Do not store sources: frames show file and line only' },
    json: { text: 'Print JSON' },
  },
  async run(flags, argument) {
    if (argument === undefined)
      throw usageError('Specify the output folder of the build: faultboard sourcemaps upload DIR --release VERSION')
    const { release } = flags
    // An unset build variable results in an empty string.
    if (release === undefined || release.trim() === '') {
      throw usageError(
        '--release is missing. Use the app_version that the clients of this build report, such as --release 1.4.0',
      )
    }
    const prefix = normalizePrefix(flags['url-prefix'])
    const folder = resolve(argument)
    const scripts = builtScripts(folder)
    if (scripts.length === 0) throw noMapsError(argument, scriptsWithoutMap(folder).length)
    const settings = (await readConfiguration(flags)).settings
    const { address, isNew } = describeTarget(settings)
    return withNewTracker(settings, async ({ Commands, config }) => {
      const stored: string[] = []
      const withoutSources: string[] = []
      const rejections: string[] = []
      const removed = new Set<string>()
      for (const script of scripts) {
        const file_name = `${prefix}${script.name}`
        try {
          const folder = mapFolder(script, config.project_root)
          const mapFields = { ...readScript(script), folder, sources: !flags['without-sources'] }
          const { removed_releases, has_sources } = await Commands.StoreSourceMap.call({
            release,
            file_name,
            ...mapFields,
          })
          stored.push(file_name)
          if (!has_sources) withoutSources.push(file_name)
          for (const name of removed_releases) removed.add(name)
        } catch (error) {
          if (!(error instanceof TrackerError) || !SKIPPED_ERROR_CODES.includes(error.code)) throw error
          rejections.push(error.message)
        }
      }
      if (flags.json)
        printJson({
          release,
          stored,
          without_sources: withoutSources,
          refused: rejections,
          removed_releases: [...removed],
        })
      else {
        for (const file_name of stored) print(file_name)
        print(`${stored.length === 1 ? '1 source map' : `${stored.length} source maps`} stored for release ${release}.`)
        if (withoutSources.length > 0 && !flags['without-sources']) print(missingSourcesText(withoutSources))
        if (removed.size > 0) print(`Deleted because of source_map_max_releases: ${[...removed].join(', ')}.`)
      }
      if (isNew) printError(`${address} did not exist and was created. Is it the database of your application?`)
      for (const message of rejections) printError(message)
      return rejections.length > 0 ? 1 : 0
    })
  },
})

/** A problem with one file does not affect the other files. */
const SKIPPED_ERROR_CODES: readonly string[] = ['invalid_input', 'too_large']

function normalizePrefix(prefix: string | undefined): string {
  if (prefix === undefined) return ''
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s?#]*$/i.test(prefix)) {
    throw usageError(
      `--url-prefix must be the full URL at which DIR is served, such as https://cdn.shop.example/assets/, not "${prefix}"`,
    )
  }
  return prefix.endsWith('/') ? prefix : `${prefix}/`
}

function missingSourcesText(names: readonly string[]): string {
  const scripts = names.length === 1 ? names[0] : `${names.length} scripts`
  return `No source stored for ${scripts}: the map contains none, or more than source_map_max_bytes. Frames show file and line only.`
}

function noMapsError(folder: string, scripts: number): CommandFailed {
  const hint =
    scripts === 0
      ? `No scripts or maps in ${folder}. Specify the output folder of the build.`
      : `${folder} contains ${scripts === 1 ? 'a script' : `${scripts} scripts`} without a map. Build with source maps (esbuild --sourcemap=external, Vite build.sourcemap: 'hidden', webpack devtool: 'hidden-source-map').`
  return new CommandFailed(hint)
}

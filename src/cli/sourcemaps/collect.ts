import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { TrackerError } from '../../model/errors.js'
import { CommandFailed } from '../command.js'

/** A script of a build and the path of its map. */
export interface BuiltScript {
  /** Relative to the given folder, with forward slashes. */
  name: string
  path: string
  map_path: string
}

/** A script and its map, as uploaded. */
export interface ScriptWithMap {
  map: string
  code: string | null
  debug_id: string | undefined
}

const SCRIPT_FILE = /\.(?:[cm]?js|jsbundle|bundle)$/
const MAP_FILE = /\.(?:[cm]?js|jsbundle|bundle)\.map$/

/** Scripts below a folder that have a map next to them. Links are not followed. */
export function builtScripts(folder: string): BuiltScript[] {
  const files = filesBelow(folder)
  const fileSet = new Set(files)
  return files
    .filter((file) => MAP_FILE.test(file))
    .map((map_path) => {
      const path = map_path.slice(0, -'.map'.length)
      return { name: relative(folder, path).split(sep).join('/'), path: fileSet.has(path) ? path : '', map_path }
    })
}

/** Scripts without a map: the build did not create source maps. */
export function scriptsWithoutMap(folder: string): string[] {
  const files = new Set(filesBelow(folder))
  return [...files].filter((file) => SCRIPT_FILE.test(file) && !files.has(`${file}.map`))
}

/** Below the maximum length of a V8 string. The stored part of a map is much smaller. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/** Throws `too_large` for a map that cannot be read as text. */
export function readScript({ name, path, map_path }: BuiltScript): ScriptWithMap {
  if (statSync(map_path).size > MAX_FILE_BYTES) {
    throw new TrackerError('too_large', `The map of ${name} is larger than ${MAX_FILE_BYTES} bytes.`)
  }
  const map = readFileSync(map_path, 'utf8')
  const code = path === '' || statSync(path).size > MAX_FILE_BYTES ? null : readFileSync(path, 'utf8')
  return { map, code, debug_id: readDebugId(map, code) }
}

/** Folder of a map relative to the project. The paths of its sources start there. */
export function mapFolder({ map_path }: BuiltScript, project_root: string): string {
  const folder = relative(resolve(project_root), dirname(map_path))
  return folder.startsWith('..') ? '' : folder.split(sep).join('/')
}

/** Bundlers write the id into both files. */
function readDebugId(map: string, code: string | null): string | undefined {
  const codeId = code === null ? undefined : /\/\/# debugId=([\da-f-]{32,36})\s*$/im.exec(code.slice(-2000))?.[1]
  return codeId ?? /"debug_?id"\s*:\s*"([\da-f-]{32,36})"/i.exec(map.slice(0, 2000) + map.slice(-2000))?.[1]
}

function filesBelow(folder: string): string[] {
  try {
    if (!statSync(folder).isDirectory())
      throw new CommandFailed(`${folder} is not a folder. Specify the output folder of the build.`)
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed(`${folder} does not exist. Specify the output folder of the build.`)
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !`${sep}${relative(folder, path)}`.includes(`${sep}node_modules${sep}`))
    .sort()
}

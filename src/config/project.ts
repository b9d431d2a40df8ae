import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface Project {
  root: string
  name?: string | undefined
  version?: string | undefined
}

/** The host's own project: the nearest folder with a package.json, upwards from here. */
export function findProject(from: string): Project {
  const start = resolve(from)
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'package.json'))
    if (manifest) return { root: folder, name: textOf(manifest.name), version: textOf(manifest.version) }
    if (folder === dirname(folder)) return { root: start }
  }
}

/** The root of the host's project: what is given, or the folder of its package.json. */
export function projectRoot(given: string | null): string {
  return realPath(given ?? findProject(process.cwd()).root)
}

/** Stacks name real files: a root given as a link to the newest release would lie in none of them. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // A folder that is not on this machine, as for the stacks of another one.
    return resolve(path)
  }
}

function readManifest(file: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    // No such file, or one that cannot be read: either way this folder does not name the project.
    return null
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

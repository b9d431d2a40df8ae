import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface Project {
  root: string
  name?: string | undefined
  version?: string | undefined
}

/** Finds the host's project: the nearest folder with a package.json, searching upward. */
export function findProject(from: string): Project {
  const start = resolve(from)
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'package.json'))
    if (manifest) return { root: folder, name: nonEmptyText(manifest.name), version: nonEmptyText(manifest.version) }
    if (folder === dirname(folder)) return { root: start }
  }
}

/** Root of the host's project: the configured path, or the folder of its package.json. */
export function projectRoot(configuredRoot: string | null): string {
  return realPath(configuredRoot ?? findProject(process.cwd()).root)
}

/**
 * Resolves symbolic links, because stacks contain real paths. A root that links to the newest release would match no
 * stack.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // The path is not on this machine, for example in a stack from another machine.
    return resolve(path)
  }
}

function readManifest(file: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    // Missing or unreadable: this folder does not identify the project.
    return null
  }
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

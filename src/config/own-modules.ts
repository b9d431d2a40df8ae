import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProject } from './project.js'

/** URL of this file. A bundler removes it, or replaces it with the URL at build time. */
const OWN_FILE = import.meta.url as string | undefined

/**
 * Folder of our modules: as path, as in stacks of CommonJS, and as URL, as in stacks of ES modules. Null if a bundler
 * has merged our modules into a file of the host.
 */
export const OWN_FOLDERS: readonly string[] | null = isMerged() ? null : ownFolders()

/** Explains that a bundler has merged our modules into a file of the host. Null if they are in their own package. */
export function bundlingProblem(): string | null {
  if (OWN_FOLDERS !== null) return null
  return (
    'Faultboard is part of a bundle, but loads files of its own package. Mark the package faultboard as external (esbuild ' +
    '--external:faultboard, ncc -e faultboard, externals of webpack, external of Rollup, serverExternalPackages of Next.js), ' +
    'and install it where the bundle runs'
  )
}

function ownFolders(): string[] {
  const url = new URL('..', OWN_FILE).href
  return [fileURLToPath(url), url]
}

function isMerged(): boolean {
  if (OWN_FILE === undefined || OWN_FILE === '') return true
  try {
    const file = fileURLToPath(OWN_FILE)
    return findProject(file).name !== 'faultboard' || runsInOtherFile(basename(file))
  } catch {
    return true
  }
}

/** Whether the stack contains another file than `import.meta.url`. The host may have changed how stacks look. */
function runsInOtherFile(name: string): boolean {
  const { stack } = new Error()
  const [, frame] = typeof stack === 'string' ? stack.split('\n    at ') : []
  return frame !== undefined && !frame.includes(name)
}

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProject } from '../config/project.js'

let version: string | null | undefined

/** Version of Faultboard itself; read once. */
export function ownVersion(): string | null {
  version ??= findProject(dirname(fileURLToPath(import.meta.url))).version ?? null
  return version
}

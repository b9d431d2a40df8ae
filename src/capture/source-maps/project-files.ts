import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'

/** File that is open for the duration of one read. */
export interface OpenFile {
  path: string
  size: number
  /** The last bytes, or the whole file if it is shorter. */
  tail(bytes: number): Buffer
}

/** Opens files below the project root only, regardless of the paths in a stack or map. */
export class ProjectFiles {
  readonly #root: string
  readonly #realRoot: string | null

  constructor(project_root: string) {
    this.#root = resolve(project_root)
    this.#realRoot = realPath(this.#root)
  }

  /** Checks the path without disk access, because paths in a stack are untrusted. */
  contains(path: string): boolean {
    if (this.#realRoot === null || path.includes('\0')) return false
    return isBelow(this.#realRoot, path) || isBelow(this.#root, path)
  }

  /** Version of a file, which changes when the file is rewritten. */
  stamp(path: string): string {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats ? `${stats.mtimeMs}:${stats.size}` : 'none'
  }

  /** Returns null if the file is missing, not a regular file, or a link that leaves the project. */
  read<Result>(path: string, work: (file: OpenFile) => Result): Result | null {
    const realFile = this.contains(path) ? realPath(path) : null
    if (realFile === null || this.#realRoot === null || !isBelow(this.#realRoot, realFile)) return null
    // Without O_NONBLOCK, opening a named pipe blocks until a writer connects.
    const handle = openSync(realFile, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stats = fstatSync(handle)
      if (!stats.isFile()) return null
      return work({ path: realFile, size: stats.size, tail: (bytes) => readTail(handle, stats.size, bytes) })
    } finally {
      closeSync(handle)
    }
  }
}

function readTail(handle: number, size: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(Math.min(size, bytes))
  let filled = 0
  while (filled < buffer.length) {
    const count = readSync(handle, buffer, filled, buffer.length - filled, size - buffer.length + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path)
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && resolve(root, inside) === resolve(path)
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    // Missing, unreadable, or a cycle of links.
    return null
  }
}

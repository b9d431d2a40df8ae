import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Context } from '../../../context.js'
import { AsyncCache } from '../async-cache.js'
import { GitError, runGit } from './run-git.js'

export interface Repository {
  /** Root folder with symbolic links resolved. */
  folder: string
  head: string
  /** True if the clone is shallow. */
  isShallow: boolean
  /** Configured URL of `origin`, including credentials. */
  origin: string | null
}

const TTL_MS = 60_000
const caches = new WeakMap<Context, AsyncCache<Repository | GitError>>()
const MAX_DEPTH = 100

/** Returns the repository of a folder. Cached briefly, because the checked-out commit can change. Rejects with a GitError. */
export async function findRepository(context: Context, start: string): Promise<Repository> {
  const folder = await folderWithGit(start)
  if (folder === null) throw new GitError('no_repository')
  const cache = caches.get(context) ?? new AsyncCache<Repository | GitError>(50)
  caches.set(context, cache)
  const found = await cache.get(
    folder,
    context.now,
    () => TTL_MS,
    () => readRepository(folder).catch(toGitError),
  )
  if (found instanceof GitError) throw found
  return found
}

/** Returns the nearest parent folder that contains `.git`. A submodule takes precedence over its parent repository. */
export async function folderWithGit(start: string): Promise<string | null> {
  let folder = start
  for (let i = 0; i < MAX_DEPTH; i++) {
    if (await lstat(join(folder, '.git')).catch(() => null)) return folder
    if (folder === dirname(folder)) return null
    folder = dirname(folder)
  }
  return null
}

/** Converts failures to values, so that they are cached too. */
export function toGitError(error: unknown): GitError {
  return error instanceof GitError ? error : new GitError('failed')
}

/** Returns the path of a file relative to the repository, or null if it is outside. */
export function pathInside({ folder }: Pick<Repository, 'folder'>, file: string): string | null {
  const inside = relative(folder, file)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || inside.startsWith(sep)) return null
  return sep === '/' ? inside : inside.replaceAll(sep, '/')
}

async function readRepository(start: string): Promise<Repository> {
  const output = (await runGit(start, 'rev-parse', '--is-shallow-repository', '--show-toplevel', 'HEAD')).toString()
  const lines = output.replace(/\n$/, '').split('\n')
  const head = lines.at(-1) ?? ''
  if (!/^[\da-f]{40,64}$/.test(head)) throw new GitError('failed')
  const folder = await realpath(lines.slice(1, -1).join('\n'))
  // `core.worktree` can refer to another folder.
  if (folder !== (await realpath(start))) throw new GitError('failed')
  return { folder, head, isShallow: lines[0] === 'true', origin: await readOrigin(start) }
}

async function readOrigin(start: string): Promise<string | null> {
  try {
    const address = await runGit(start, 'config', '--local', '--no-includes', '--get', 'remote.origin.url')
    return address.toString().trim()
  } catch {
    // No remote named origin. Frames have no links.
    return null
  }
}

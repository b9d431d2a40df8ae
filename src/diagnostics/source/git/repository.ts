import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Context } from '../../../context.js'
import { Memory } from '../memory.js'
import { GitTrouble, runGit } from './run-git.js'

export interface Repository {
  /** Its topmost folder, without links. */
  folder: string
  head: string
  /** Whether its history was cut off. */
  is_shallow: boolean
  /** The address of `origin` as it is written, credentials included. */
  origin: string | null
}

const KEPT_MS = 60_000
const memories = new WeakMap<Context, Memory<Repository | GitTrouble>>()
const DEPTH = 100

/** The repository to which a folder belongs; rejects with a GitTrouble. What is checked out may change meanwhile. */
export async function repositoryOf(context: Context, start: string): Promise<Repository> {
  const folder = await folderWithGit(start)
  if (folder === null) throw new GitTrouble('no_repository')
  const memory = memories.get(context) ?? new Memory<Repository | GitTrouble>(50)
  memories.set(context, memory)
  const found = await memory.get(
    folder,
    context.now,
    () => KEPT_MS,
    () => look(folder).catch(asTrouble),
  )
  if (found instanceof GitTrouble) throw found
  return found
}

/** The nearest folder, from here up, that has a `.git`: its own of a submodule comes before the one around it. */
export async function folderWithGit(start: string): Promise<string | null> {
  let folder = start
  for (let i = 0; i < DEPTH; i++) {
    if (await lstat(join(folder, '.git')).catch(() => null)) return folder
    if (folder === dirname(folder)) return null
    folder = dirname(folder)
  }
  return null
}

/** Failures are remembered too: what is not there now will hardly be there for the next frame. */
export function asTrouble(error: unknown): GitTrouble {
  return error instanceof GitTrouble ? error : new GitTrouble('failed')
}

/** The path of a file as git names it, or null where it does not lie in the repository. */
export function pathInside({ folder }: Pick<Repository, 'folder'>, file: string): string | null {
  const inside = relative(folder, file)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || inside.startsWith(sep)) return null
  return sep === '/' ? inside : inside.replaceAll(sep, '/')
}

async function look(start: string): Promise<Repository> {
  const answer = (await runGit(start, 'rev-parse', '--is-shallow-repository', '--show-toplevel', 'HEAD')).toString()
  const lines = answer.replace(/\n$/, '').split('\n')
  const head = lines.at(-1) ?? ''
  if (!/^[\da-f]{40,64}$/.test(head)) throw new GitTrouble('failed')
  const folder = await realpath(lines.slice(1, -1).join('\n'))
  // `core.worktree` may name any other folder.
  if (folder !== (await realpath(start))) throw new GitTrouble('failed')
  return { folder, head, is_shallow: lines[0] === 'true', origin: await originOf(start) }
}

async function originOf(start: string): Promise<string | null> {
  try {
    const address = await runGit(start, 'config', '--local', '--no-includes', '--get', 'remote.origin.url')
    return address.toString().trim()
  } catch {
    // There is no such remote: the frames have no links then.
    return null
  }
}

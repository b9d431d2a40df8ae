import { dirname } from 'node:path'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { type CommitFile, fileInCommit, knownCommit } from './git/commit-files.js'
import { asTrouble, pathInside, type Repository, repositoryOf } from './git/repository.js'
import { type GitReason, GitTrouble } from './git/run-git.js'
import { Memory } from './memory.js'
import { sourceOptions } from './options.js'
import { locateSource } from './source-files.js'

/** The file of a frame: where it lies, and what git knows of it. */
export interface FrameFile {
  /** Without links; the file may be gone by now. */
  path: string
  git: GitFile | null
  /** Why git could not tell; null too where it was not asked. */
  trouble: GitReason | null
}

export interface GitFile {
  repository: Repository
  /** Its path from the topmost folder of the repository. */
  name: string
  /** The commit of the occurrence, where the repository has it. */
  commit: string | null
  /** The file as it was at that commit, where something else is checked out now. */
  past: CommitFile | null
}

const MOST = 500
const TROUBLE_MS = 60_000
const memories = new WeakMap<Context, Memory<FrameFile | null>>()

/** Null for what may not be shown. Git is asked only where it is turned on, and never makes this reject. */
export async function frameFile(
  context: Context,
  { file, git_sha }: { file: string; git_sha: string | null },
): Promise<FrameFile | null> {
  const { project_root } = context.config
  const { enable_git_blame, source_code_cache_ttl } = readOptions(context.config, sourceOptions)
  if (!enable_git_blame) return located(project_root, file)
  const memory = memories.get(context) ?? new Memory<FrameFile | null>(MOST)
  memories.set(context, memory)
  const lasts = () => Math.min(TROUBLE_MS, source_code_cache_ttl * 1000)
  return memory.get(`${file}\n${git_sha}`, context.now, lasts, async () => {
    const found = await located(project_root, file)
    if (!found) return null
    try {
      return { ...found, git: await gitFile(context, found.path, git_sha) }
    } catch (error) {
      return { ...found, trouble: asTrouble(error).reason }
    }
  })
}

async function located(root: string, file: string): Promise<FrameFile | null> {
  const path = await locateSource(root, file)
  return path === null ? null : { path, git: null, trouble: null }
}

async function gitFile(context: Context, path: string, git_sha: string | null): Promise<GitFile> {
  const repository = await repositoryOf(context, dirname(path))
  const name = pathInside(repository, path)
  if (name === null) throw new GitTrouble('failed')
  const commit = git_sha === null ? null : await knownCommit(repository, git_sha)
  const is_past = commit !== null && commit !== repository.head
  return { repository, name, commit, past: is_past ? await fileInCommit(repository, commit, name) : null }
}

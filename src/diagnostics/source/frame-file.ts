import { dirname } from 'node:path'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { AsyncCache } from './async-cache.js'
import { type CommitFile, fileInCommit, resolveCommit } from './git/commit-files.js'
import { findRepository, pathInside, type Repository, toGitError } from './git/repository.js'
import { GitError, type GitFailure } from './git/run-git.js'
import { sourceOptions } from './options.js'
import { locateSource } from './source-files.js'

/** File of a frame with its state in git. */
export interface FrameFile {
  /** Path with symbolic links resolved. The file may no longer exist. */
  path: string
  git: GitFile | null
  /** Reason why git failed. Null if it succeeded or is off. */
  failure: GitFailure | null
}

export interface GitFile {
  repository: Repository
  /** Path relative to the root of the repository. */
  name: string
  /** Commit of the occurrence, if the repository contains it. */
  commit: string | null
  /** File at that commit, if another commit is checked out. */
  past: CommitFile | null
}

const MAX_CACHED_FILES = 500
const MAX_TTL_MS = 60_000
const caches = new WeakMap<Context, AsyncCache<FrameFile | null>>()

/** Returns null for a file that must not be shown. Runs git only if it is on. Never rejects because of git. */
export async function frameFile(
  context: Context,
  { file, git_sha }: { file: string; git_sha: string | null },
): Promise<FrameFile | null> {
  const { project_root } = context.config
  const { enable_git_blame, source_code_cache_ttl } = readOptions(context.config, sourceOptions)
  if (!enable_git_blame) return locateFile(project_root, file)
  const cache = caches.get(context) ?? new AsyncCache<FrameFile | null>(MAX_CACHED_FILES)
  caches.set(context, cache)
  const ttlMs = () => Math.min(MAX_TTL_MS, source_code_cache_ttl * 1000)
  return cache.get(`${file}\n${git_sha}`, context.now, ttlMs, async () => {
    const found = await locateFile(project_root, file)
    if (!found) return null
    try {
      return { ...found, git: await gitFile(context, found.path, git_sha) }
    } catch (error) {
      return { ...found, failure: toGitError(error).reason }
    }
  })
}

async function locateFile(root: string, file: string): Promise<FrameFile | null> {
  const path = await locateSource(root, file)
  return path === null ? null : { path, git: null, failure: null }
}

async function gitFile(context: Context, path: string, git_sha: string | null): Promise<GitFile> {
  const repository = await findRepository(context, dirname(path))
  const name = pathInside(repository, path)
  if (name === null) throw new GitError('failed')
  const commit = git_sha === null ? null : await resolveCommit(repository, git_sha)
  const isOtherCommit = commit !== null && commit !== repository.head
  return { repository, name, commit, past: isOtherCommit ? await fileInCommit(repository, commit, name) : null }
}

import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { allSettledWithin } from './all-settled-within.js'
import { AsyncCache } from './async-cache.js'
import { type FrameFile, frameFile } from './frame-file.js'
import { type RepositoryLinks, repositoryLinks } from './frame-links.js'
import { blame, type LineChange } from './git/blame.js'
import { fileInCommit, isBlob, textInCommit } from './git/commit-files.js'
import { lineBefore } from './git/line-map.js'
import { toGitError } from './git/repository.js'
import { GitError, type GitFailure } from './git/run-git.js'
import { sourceOptions } from './options.js'
import { MAX_FRAMES, type SourceLocation, type SourceReference, splitLines, toLocation } from './source-code.js'
import { readSource } from './source-files.js'

/** Git history of the line of a frame. */
export interface FrameHistory {
  /** Link to the line at the commit of the occurrence, or at the current commit. */
  link: string | null
  change: (LineChange & { link: string | null }) | null
  /** Commit at which the line was looked up. Null for the working copy. */
  commit: string | null
  /** True if git is still running. */
  is_pending: boolean
  /** Reason why the change is not available. */
  note: string | null
}

export interface Histories {
  frames: readonly (FrameHistory | null)[]
  /** Problem that affects all frames, as a sentence. */
  note: string | null
}

const TIME_LIMIT_MS = 100
const FAILURE_TTL_MS = 60_000
const MIN_TTL_MS = 10_000
const MAX_CACHED_LINES = 1000

/**
 * Returns the last change of the line of each frame. Slow lookups continue in the background for the next request. Does
 * nothing while the options are off. Never throws.
 */
export async function loadHistories(
  context: Context,
  references: readonly SourceReference[],
  git_sha: string | null,
): Promise<Histories> {
  const { enable_git_blame, git_repository_url } = readOptions(context.config, sourceOptions)
  const frames: (FrameHistory | null)[] = references.map(() => null)
  if (!enable_git_blame && git_repository_url === null) return { frames, note: null }
  const failures = new Set<GitFailure>()
  const lookups = references.slice(0, MAX_FRAMES).map(async (frame, i) => {
    const location = toLocation(frame)
    frames[i] = location && { ...NO_HISTORY, is_pending: enable_git_blame }
    const file = location && (await frameFile(context, { file: location.file, git_sha }))
    if (!location || !file) {
      frames[i] = null
      return
    }
    if (file.failure) failures.add(file.failure)
    const links = await repositoryLinks(context, file, { git_sha, line: location.line_number })
    frames[i] = { ...NO_HISTORY, link: links.file, is_pending: file.git !== null }
    if (file.git) frames[i] = toHistory(await lineHistory(context, file, location, git_sha), links)
  })
  await allSettledWithin(lookups, TIME_LIMIT_MS)
  const [failure] = failures
  return { frames: [...frames], note: failure ? FAILURE_NOTES[failure] : null }
}

const NO_HISTORY: FrameHistory = { link: null, change: null, commit: null, is_pending: false, note: null }

const FAILURE_NOTES: Readonly<Record<GitFailure, string>> = {
  no_git: 'Git history is not available: git is not installed on this machine.',
  no_repository: 'Git history is not available: project_root is not in a Git repository.',
  refused:
    'Git refuses to read this repository, because it belongs to another user. See safe.directory in the Git manual.',
  timeout: 'Git history is not available: git timed out.',
  busy: 'Git history is not available: too many lookups are running.',
  failed: 'Git history is not available for this line.',
}

interface LineHistory {
  change: LineChange | null
  commit: string | null
  note: string | null
  /** True if a retry can succeed. */
  isRetryable: boolean
}

const caches = new WeakMap<Context, AsyncCache<LineHistory>>()

function lineHistory(
  context: Context,
  file: FrameFile,
  { line_number }: SourceLocation,
  git_sha: string | null,
): Promise<LineHistory> {
  const cache = caches.get(context) ?? new AsyncCache<LineHistory>(MAX_CACHED_LINES)
  caches.set(context, cache)
  // The page requests a pending result again and must find it in the cache.
  const ttl = Math.max(MIN_TTL_MS, readOptions(context.config, sourceOptions).source_code_cache_ttl * 1000)
  const ttlMs = ({ isRetryable }: LineHistory) => (isRetryable ? FAILURE_TTL_MS : ttl)
  const key = `${file.path}\n${line_number}\n${git_sha}\n${file.git?.repository.head}`
  return cache.get(key, context.now, ttlMs, () => findChange(file, line_number).catch(toFailure))
}

async function findChange({ path, git }: FrameFile, line_number: number): Promise<LineHistory> {
  if (!git) throw new GitError('failed')
  const { repository, name, past } = git
  if (past) {
    const change = await blame(repository, { commit: git.commit ?? '', path: name, line: line_number })
    return withChange(change, git.commit)
  }
  const [committed, current] = await Promise.all([fileInCommit(repository, repository.head, name), readSource(path)])
  if (!committed) return withNote('This file is not in the repository.')
  if (!current || UNSUPPORTED_LINE_BREAKS.test(current.text)) throw new GitError('failed')
  // Compares the working copy without git, which would run filters configured in the repository.
  const isUnchanged = isBlob(current.bytes, committed)
  const committedText = isUnchanged ? null : await textInCommit(repository, committed)
  const line = isUnchanged ? line_number : committedLine(committedText, current.text, line_number)
  if (line === 'new') return withNote('This line is not committed yet.')
  if (line === 'unclear')
    return withNote('The last change of this line is unknown, because the file has uncommitted changes.')
  const change = await blame(repository, { commit: repository.head, path: name, line })
  return withChange(change, isUnchanged ? git.commit : null)
}

function committedLine(committed: string | null, current: string, line_number: number): number | 'new' | 'unclear' {
  return committed === null ? 'unclear' : lineBefore(splitLines(current), splitLines(committed), line_number)
}

/** Line breaks that JavaScript counts and git does not. */
const UNSUPPORTED_LINE_BREAKS = /\r(?!\n)|[\u2028\u2029]/

function withChange(change: LineChange | null, commit: string | null): LineHistory {
  if (change?.isTruncated) return withNote('The last change of this line is not in the history of this shallow clone.')
  return { change, commit, note: null, isRetryable: false }
}

function withNote(note: string): LineHistory {
  return { change: null, commit: null, note, isRetryable: false }
}

function toFailure(error: unknown): LineHistory {
  return { ...withNote(FAILURE_NOTES[toGitError(error).reason]), isRetryable: true }
}

function toHistory({ change, commit, note }: LineHistory, links: RepositoryLinks): FrameHistory {
  return {
    link: links.file,
    change: change && { ...change, link: links.commit(change.commit) },
    commit,
    is_pending: false,
    note,
  }
}

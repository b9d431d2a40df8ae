import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { cleanText } from '../model/text.js'

/**
 * Variables in which the host or its platform sets the release. A deployment number distinguishes releases that
 * share a package.json version.
 */
const VERSION_VARIABLES = [
  'APP_VERSION', 'RELEASE_VERSION', 'HEROKU_RELEASE_VERSION', 'K_REVISION', 'GAE_VERSION', 'CONTAINER_VERSION',
] // biome-ignore format: a word list reads best as lines of words

/** Variables set by hosts, hosting platforms and build services, in this order. */
const COMMIT_VARIABLES = [
  'GIT_SHA', 'GIT_COMMIT_SHA', 'GIT_COMMIT', 'GIT_REVISION', 'GIT_REV', 'COMMIT_SHA', 'COMMIT_HASH', 'SOURCE_COMMIT',
  'SOURCE_VERSION', 'HEROKU_BUILD_COMMIT', 'HEROKU_SLUG_COMMIT', 'VERCEL_GIT_COMMIT_SHA', 'RENDER_GIT_COMMIT',
  'RAILWAY_GIT_COMMIT_SHA', 'KOYEB_GIT_SHA', 'ZEABUR_GIT_COMMIT_SHA', 'CC_COMMIT_ID', 'CF_PAGES_COMMIT_SHA',
  'WORKERS_CI_COMMIT_SHA', 'COMMIT_REF', 'AWS_COMMIT_ID', 'KAMAL_VERSION', 'GITHUB_SHA', 'CI_COMMIT_SHA', 'CIRCLE_SHA1',
  'BITBUCKET_COMMIT', 'BUILDKITE_COMMIT', 'BUILD_SOURCEVERSION', 'CODEBUILD_RESOLVED_SOURCE_VERSION', 'DRONE_COMMIT_SHA',
  'SEMAPHORE_GIT_SHA', 'TRAVIS_COMMIT',
] // biome-ignore format: a word list reads best as lines of words

/** Version of the running host from environment variables, or undefined. */
export function versionFromEnvironment(env: NodeJS.ProcessEnv): string | undefined {
  return VERSION_VARIABLES.map((name) => cleanText(env[name]?.trim() ?? '', 128)).find((version) => version !== '')
}

/**
 * Commit of the running host, from environment variables or the repository that contains the folder. Undefined if
 * unknown.
 */
export function findCommit(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  return COMMIT_VARIABLES.map((name) => parseCommit(env[name])).find((commit) => commit) ?? repositoryCommit(folder)
}

/** Accepts only text that looks like a commit, because variables and files can contain anything. */
function parseCommit(text: string | undefined): string | undefined {
  return /^[\da-f]{7,64}$/i.test(text?.trim() ?? '') ? text?.trim().toLowerCase() : undefined
}

function repositoryCommit(folder: string): string | undefined {
  try {
    const git = findGitFolder(resolve(folder))
    if (!git) return undefined
    const common = firstLine(join(git, 'commondir'))
    return resolveReference('HEAD', [git, ...(common ? [resolve(git, common)] : [])])
  } catch {
    // The path is invalid, or the file was deleted between two reads. The commit stays unknown.
    return undefined
  }
}

/** Finds the nearest `.git`: a folder, or a file that points a worktree or submodule to its folder. */
function findGitFolder(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const git = join(folder, '.git')
    const found = statSync(git, { throwIfNoEntry: false })
    if (found?.isDirectory()) return git
    const linkedFolder = found && /^gitdir: (.+)$/.exec(firstLine(git) ?? '')?.[1]
    if (found) return linkedFolder ? resolve(folder, linkedFolder) : undefined
    if (folder === dirname(folder)) return undefined
  }
}

const MAX_REFERENCE_DEPTH = 5

/** Resolves a reference in the worktree's own folder, then in the shared folder. */
function resolveReference(startName: string, folders: readonly string[]): string | undefined {
  let name = startName
  for (let depth = 0; depth < MAX_REFERENCE_DEPTH; depth++) {
    const line = folders.map((folder) => firstLine(join(folder, name))).find((found) => found !== undefined)
    if (line === undefined) return packedCommit(name, folders.at(-1) ?? '')
    const next = /^ref: (.+)$/.exec(line)?.[1]
    if (next === undefined) return parseCommit(line)
    if (!isReference(next)) return undefined
    name = next
  }
  return undefined
}

/** Checks a reference name as Git does. Rejects `..`, which would leave the folder. */
function isReference(name: string): boolean {
  return name.startsWith('refs/') && !name.includes('..') && !/[\0-\x20\x7f~^:?*[\\]/.test(name)
}

const MAX_PACKED_BYTES = 8 * 1024 * 1024

function packedCommit(name: string, folder: string): string | undefined {
  const lines = readStart(join(folder, 'packed-refs'), MAX_PACKED_BYTES)?.split('\n') ?? []
  const line = lines.find((entry) => entry.slice(entry.indexOf(' ') + 1).trimEnd() === name)
  return parseCommit(line?.split(' ', 1)[0])
}

function firstLine(file: string): string | undefined {
  return readStart(file, 4096)?.split('\n', 1)[0]?.trim()
}

/**
 * Reads the first bytes of a regular file. Opening a named pipe would block forever, and reading a device would never
 * end.
 */
function readStart(file: string, limit: number): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile()) return undefined
  const bytes = Buffer.alloc(Math.min(found.size, limit))
  const handle = openSync(file, 'r')
  try {
    return bytes.toString('utf8', 0, readSync(handle, bytes))
  } finally {
    closeSync(handle)
  }
}

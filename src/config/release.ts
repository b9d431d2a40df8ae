import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { cleanText } from '../model/text.js'

/** What the host or its platform calls the release. A number of the deployment tells apart what package.json may not. */
const VERSION_VARIABLES = [
  'APP_VERSION', 'RELEASE_VERSION', 'HEROKU_RELEASE_VERSION', 'K_REVISION', 'GAE_VERSION', 'CONTAINER_VERSION',
] // biome-ignore format: a word list reads best as lines of words

/** First what hosts set themselves, then the platforms that run them, then the builders that may have. */
const COMMIT_VARIABLES = [
  'GIT_SHA', 'GIT_COMMIT_SHA', 'GIT_COMMIT', 'GIT_REVISION', 'GIT_REV', 'COMMIT_SHA', 'COMMIT_HASH', 'SOURCE_COMMIT',
  'SOURCE_VERSION', 'HEROKU_BUILD_COMMIT', 'HEROKU_SLUG_COMMIT', 'VERCEL_GIT_COMMIT_SHA', 'RENDER_GIT_COMMIT',
  'RAILWAY_GIT_COMMIT_SHA', 'KOYEB_GIT_SHA', 'ZEABUR_GIT_COMMIT_SHA', 'CC_COMMIT_ID', 'CF_PAGES_COMMIT_SHA',
  'WORKERS_CI_COMMIT_SHA', 'COMMIT_REF', 'AWS_COMMIT_ID', 'KAMAL_VERSION', 'GITHUB_SHA', 'CI_COMMIT_SHA', 'CIRCLE_SHA1',
  'BITBUCKET_COMMIT', 'BUILDKITE_COMMIT', 'BUILD_SOURCEVERSION', 'CODEBUILD_RESOLVED_SOURCE_VERSION', 'DRONE_COMMIT_SHA',
  'SEMAPHORE_GIT_SHA', 'TRAVIS_COMMIT',
] // biome-ignore format: a word list reads best as lines of words

/** The version of the running host by its environment, or undefined. */
export function versionFromEnvironment(env: NodeJS.ProcessEnv): string | undefined {
  return VERSION_VARIABLES.map((name) => cleanText(env[name]?.trim() ?? '', 128)).find((version) => version !== '')
}

/** The commit the running host was built from, by its environment or the repository around the folder, or undefined. */
export function commitOf(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  return COMMIT_VARIABLES.map((name) => commitIn(env[name])).find((commit) => commit) ?? commitOfRepository(folder)
}

/** Whatever a variable or file holds, only what looks like a commit leaves this file. */
function commitIn(text: string | undefined): string | undefined {
  return /^[\da-f]{7,64}$/i.test(text?.trim() ?? '') ? text?.trim().toLowerCase() : undefined
}

function commitOfRepository(folder: string): string | undefined {
  try {
    const git = findGitFolder(resolve(folder))
    if (!git) return undefined
    const common = firstLine(join(git, 'commondir'))
    return commitOfReference('HEAD', [git, ...(common ? [resolve(git, common)] : [])])
  } catch {
    // A path that no file can have, or a file that went away meanwhile: the commit stays unknown.
    return undefined
  }
}

/** The nearest `.git`: a folder, or the file by which a worktree or submodule names its own. */
function findGitFolder(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const git = join(folder, '.git')
    const found = statSync(git, { throwIfNoEntry: false })
    if (found?.isDirectory()) return git
    const named = found && /^gitdir: (.+)$/.exec(firstLine(git) ?? '')?.[1]
    if (found) return named ? resolve(folder, named) : undefined
    if (folder === dirname(folder)) return undefined
  }
}

const MAX_STEPS = 5

/** Follows a reference through the worktree's own folder and the one it shares with the others. */
function commitOfReference(first: string, folders: readonly string[]): string | undefined {
  let name = first
  for (let step = 0; step < MAX_STEPS; step++) {
    const line = folders.map((folder) => firstLine(join(folder, name))).find((found) => found !== undefined)
    if (line === undefined) return commitOfPacked(name, folders.at(-1) ?? '')
    const next = /^ref: (.+)$/.exec(line)?.[1]
    if (next === undefined) return commitIn(line)
    if (!isReference(next)) return undefined
    name = next
  }
  return undefined
}

/** What git itself allows, of which `..` matters most: it would lead out of the folder. */
function isReference(name: string): boolean {
  return name.startsWith('refs/') && !name.includes('..') && !/[\0-\x20\x7f~^:?*[\\]/.test(name)
}

const PACKED_LIMIT = 8 * 1024 * 1024

function commitOfPacked(name: string, folder: string): string | undefined {
  const lines = beginning(join(folder, 'packed-refs'), PACKED_LIMIT)?.split('\n') ?? []
  const line = lines.find((one) => one.slice(one.indexOf(' ') + 1).trimEnd() === name)
  return commitIn(line?.split(' ', 1)[0])
}

function firstLine(file: string): string | undefined {
  return beginning(file, 4096)?.split('\n', 1)[0]?.trim()
}

/** The first bytes of a regular file: opening a pipe of that name would wait for ever, reading a device never end. */
function beginning(file: string, limit: number): string | undefined {
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

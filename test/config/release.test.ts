import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCommit } from '../../src/config/release.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { temporaryFolder } from '../support/tracker.js'

const SHA = '0af7651916cd43dd8448eb211c80319c0af76519'
const OTHER = 'ffffffffffffffffffffffffffffffffffffffff'

const resolve = (settings: Settings, env: NodeJS.ProcessEnv = {}) =>
  resolveConfiguration({ dashboard_username: 'admin', dashboard_password: 'x', ...settings }, env).options

/** A folder with the given files; it lies in no repository. */
function folderWith(files: Record<string, string>): string {
  const folder = realpathSync(temporaryFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

describe('the version', () => {
  const versionOf = (env: NodeJS.ProcessEnv, settings: Settings = {}) =>
    resolve({ project_root: folderWith({ 'package.json': '{ "version": "1.0.0" }' }), ...settings }, env).app_version

  test('the version is taken from the option first', () =>
    expect(versionOf({ APP_VERSION: '3' }, { app_version: '2' })).toBe('2'))
  test('the version is taken from the environment next, with variables of the host before those of the platform', () => {
    expect(versionOf({ K_REVISION: 'shop-00042-abc', RELEASE_VERSION: '4', APP_VERSION: ' 3 ' })).toBe('3')
    expect(versionOf({ K_REVISION: 'shop-00042-abc', RELEASE_VERSION: '4' })).toBe('4')
    expect(versionOf({ K_REVISION: 'shop-00042-abc' })).toBe('shop-00042-abc')
    expect(versionOf({ HEROKU_RELEASE_VERSION: 'v42' })).toBe('v42')
  })
  test('the version is taken from package.json last', () =>
    expect(versionOf({ APP_VERSION: ' ', npm_package_version: '9' })).toBe('1.0.0'))
  test('the version is null if no source contains it', () => {
    expect(resolve({ project_root: folderWith({ 'package.json': '{}' }) }).app_version).toBeNull()
  })
  test('the version is limited to 128 characters', () =>
    expect(versionOf({ APP_VERSION: 'x\0'.repeat(1000) })).toHaveLength(128))
})

describe('the commit', () => {
  const commitBy = (env: NodeJS.ProcessEnv, settings: Settings = {}) =>
    resolve({ project_root: folderWith({ 'package.json': '{}', '.git/HEAD': OTHER }), ...settings }, env).git_sha

  test('the commit is taken from the option first', () =>
    expect(commitBy({ GIT_SHA: SHA }, { git_sha: 'mine' })).toBe('mine'))
  test.each([
    'GIT_SHA', 'GIT_COMMIT', 'COMMIT_SHA', 'SOURCE_VERSION', 'SOURCE_COMMIT', 'HEROKU_SLUG_COMMIT', 'VERCEL_GIT_COMMIT_SHA',
    'RENDER_GIT_COMMIT', 'RAILWAY_GIT_COMMIT_SHA', 'GITHUB_SHA', 'CI_COMMIT_SHA', 'CIRCLE_SHA1', 'BITBUCKET_COMMIT',
    'CF_PAGES_COMMIT_SHA', 'COMMIT_REF', 'KAMAL_VERSION',
  ])('the commit is taken from the environment next: %s', (name) => expect(commitBy({ [name]: ` ${SHA.toUpperCase()} ` })).toBe(SHA)) // biome-ignore format: a word list reads best as lines of words
  test('the commit is taken from the variable of the host before that of a CI service', () =>
    expect(commitBy({ GITHUB_SHA: OTHER, GIT_SHA: SHA })).toBe(SHA))
  test('the commit is taken from the repository if no variable contains a commit', () => {
    for (const text of ['', 'main', 'v1.2.3', 'abc12', 'x'.repeat(40), 'a'.repeat(65), `${SHA} ${SHA}`, '12:00'])
      expect(commitBy({ GIT_SHA: text, COMMIT_REF: text })).toBe(OTHER)
    expect(commitBy({ GIT_SHA: 'main', GITHUB_SHA: SHA.slice(0, 7) })).toBe(SHA.slice(0, 7))
  })
  test('the commit is null if no source contains it', () => {
    expect(resolve({ project_root: folderWith({ 'package.json': '{}' }) }).git_sha).toBeNull()
  })
})

function repository() {
  const folder = folderWith({ 'package.json': '{}', 'src/deep/file': '' })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@x.example', '-C', folder, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // Variables of a git hook that runs these tests would lead to another repository.
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim()
  const commit = (message: string) => {
    git('commit', '--quiet', '--allow-empty', '--message', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '--quiet', '--initial-branch', 'main')
  return { folder, git, commit }
}

describe('the commit of a real repository', () => {
  test('the commit of a real repository is found by branch from subfolders and links, once there is a commit', () => {
    const { folder, commit } = repository()
    expect(findCommit(folder, {})).toBeUndefined()
    const head = commit('first')
    expect([findCommit(folder, {}), findCommit(join(folder, 'src/deep'), {})]).toEqual([head, head])
    const current = join(temporaryFolder(), 'current')
    symlinkSync(join(folder, 'src'), current)
    expect(resolve({ project_root: current }).git_sha).toBe(head)
  })

  test('the commit of a real repository is found in packed references unless a loose reference is newer', () => {
    const { folder, git, commit } = repository()
    commit('first')
    git('checkout', '--quiet', '-b', 'ünïcode/1.x')
    git('branch', 'longer/ünïcode/1.x')
    const packed = commit('second')
    git('tag', '--annotate', '--message', 'x', 'v1')
    git('pack-refs', '--all')
    expect(findCommit(folder, {})).toBe(packed)
    const loose = commit('third')
    expect(findCommit(folder, {})).toBe(loose)
  })

  test('the commit of a real repository is found with a detached HEAD', () => {
    const { folder, git, commit } = repository()
    const first = commit('first')
    commit('second')
    git('checkout', '--quiet', '--detach', first)
    expect(findCommit(folder, {})).toBe(first)
  })

  test('the commit of a real repository is found in a worktree with a loose or packed branch', () => {
    const { git, commit } = repository()
    const first = commit('first')
    commit('second')
    const worktree = join(realpathSync(temporaryFolder()), 'worktree')
    git('worktree', 'add', '--quiet', '-b', 'beside', worktree, first)
    expect(findCommit(worktree, {})).toBe(first)
    git('pack-refs', '--all')
    expect(findCommit(worktree, {})).toBe(first)
  })

  test('the commit of a real repository is found in a submodule with a relative folder', () => {
    const submodule = folderWith({ '.git/modules/part/HEAD': SHA, 'part/.git': 'gitdir: ../.git/modules/part\n' })
    expect(findCommit(join(submodule, 'part'), {})).toBe(SHA)
  })
})

describe('reading a hostile repository', () => {
  const commitWith = (files: Record<string, string>) => findCommit(folderWith(files), {})

  test.each([
    'refs/../../outside',
    '../outside',
    '/etc/hostname',
    'refs/heads/../../../outside',
    'refs\\..\\outside',
    'outside',
  ])('does not follow a reference to %s', (name) => {
    const files = { outside: SHA, '.git/outside': SHA, '.git/refs/heads/main': SHA, 'refs\\..\\outside': SHA }
    expect(commitWith({ ...files, '.git/HEAD': `ref: ${name}` })).toBeUndefined()
    expect(
      commitWith({ ...files, '.git/HEAD': 'ref: refs/heads/x', '.git/refs/heads/x': `ref: ${name}` }),
    ).toBeUndefined()
  })

  test.each<[string, Record<string, string>]>([
    ['circular references', { '.git/HEAD': 'ref: refs/a', '.git/refs/a': 'ref: refs/b', '.git/refs/b': 'ref: refs/a' }],
    ['a file without a commit', { '.git/HEAD': 'root:x:0:0:root:/root:/bin/sh' }],
    ['a NUL in a name', { '.git/HEAD': 'ref: refs/heads/a\0b' }],
    ['a NUL in a path', { '.git': 'gitdir: a\0b' }],
    ['a name that is too long for a file', { '.git/HEAD': `ref: refs/${'a'.repeat(3000)}` }],
    ['a missing folder', { '.git': 'gitdir: /nowhere/at/all' }],
    ['a file without a folder name', { '.git': 'x'.repeat(100_000) }],
    ['an empty folder', { '.git/description': '' }],
    ['a folder in place of a file', { '.git/HEAD/x': '' }],
    [
      'references without line breaks',
      { '.git/HEAD': 'ref: refs/a', '.git/packed-refs': `${SHA} refs/a`.repeat(100_000) },
    ],
  ])('finds no commit with %s', (_, files) => expect(commitWith(files)).toBeUndefined())

  test('does not open a pipe or device in place of a file', () => {
    const folder = folderWith({ '.git/refs/a': '' })
    execFileSync('mkfifo', [join(folder, '.git/HEAD')])
    expect(findCommit(folder, {})).toBeUndefined()
    const other = folderWith({ '.git/refs/a': '' })
    symlinkSync('/dev/zero', join(other, '.git/HEAD'))
    expect(findCommit(other, {})).toBeUndefined()
  })

  test('reads only the beginning of a huge packed-refs file', () => {
    const padding = `# ${'x'.repeat(9 * 1024 * 1024)}\n`
    const files = { '.git/HEAD': 'ref: refs/heads/main' }
    expect(commitWith({ ...files, '.git/packed-refs': `${SHA} refs/heads/main\n${padding}` })).toBe(SHA)
    expect(commitWith({ ...files, '.git/packed-refs': `${padding}${SHA} refs/heads/main\n` })).toBeUndefined()
  })
})

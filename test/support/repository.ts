import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe } from 'vitest'
import { temporaryFolder } from './tracker.js'

const HAS_GIT = spawnSync('git', ['--version']).status === 0

/** Runs tests with git. Without git they are reported as skipped. */
export function describeWithGit(title: string, body: () => void): void {
  describe.skipIf(!HAS_GIT)(`${title}${HAS_GIT ? '' : ' (skipped: git is not installed)'}`, body)
}

export interface TestRepository {
  folder: string
  git(...args: string[]): string
  write(name: string, content: string | Buffer): void
  /** Commits all changes and returns the commit id. */
  commit(summary: string, options?: { author?: string; at?: string }): string
}

/** Creates a repository with git, without the global settings of the current user. */
export function freshRepository(parent = temporaryFolder()): TestRepository {
  const folder = join(realpathSync(parent), 'app')
  mkdirSync(folder)
  const repository = repositoryAt(folder)
  repository.git('init', '--quiet', '--initial-branch=main')
  return repository
}

export function repositoryAt(folder: string): TestRepository {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...OWN_SETTINGS, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim()
  return {
    folder,
    git,
    write(name, content) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    },
    commit(summary, { author = 'Ada <ada@shop.example>', at = '2026-01-10T12:00:00Z' } = {}) {
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', `--author=${author}`, `--date=${at}`, '-m', summary)
      return git('rev-parse', 'HEAD')
    },
  }
}

const OWN_SETTINGS = [
  ...['user.name=Committer', 'user.email=c@shop.example', 'commit.gpgsign=false', 'core.autocrlf=false'],
  ...['protocol.file.allow=always'],
].flatMap((setting) => ['-c', setting])

import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runGit } from '../../../../src/diagnostics/source/git/run-git.js'
import { HAS_PROC, listProcesses } from '../../../support/processes/processes.js'
import { describeEachRuntime } from '../../../support/processes/runtimes.js'
import { describeWithGit, freshRepository } from '../../../support/repository.js'
import { CREDENTIALS, eventually, temporaryFolder } from '../../../support/tracker.js'

/** State and name of the git processes that this process has started and not reaped. */
function gitChildren(): string[] {
  return listProcesses()
    .filter(({ parent, name }) => parent === process.pid && name.startsWith('git'))
    .map(({ state, name }) => `${state} ${name}`)
}

describeWithGit('the git processes of Faultboard', () => {
  test.runIf(HAS_PROC)('git processes are reaped after success, failure and a full queue', async () => {
    const repository = freshRepository()
    repository.write('a.txt', 'one\n')
    repository.commit('Add a file')
    const good = Array.from({ length: 10 }, () => runGit(repository.folder, 'rev-parse', 'HEAD'))
    const bad = Array.from({ length: 10 }, () => runGit(temporaryFolder(), 'rev-parse', 'HEAD'))
    // Two processes run and 100 wait.
    const crowd = Array.from({ length: 85 }, () => runGit(repository.folder, 'no-such-command'))
    const results = await Promise.allSettled([...good, ...bad, ...crowd])
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason.reason : 'fulfilled'))
    expect(reasons).toContain('busy')
    // Git can time out on a busy machine.
    const known = ['fulfilled', 'no_repository', 'failed', 'busy', 'timeout']
    expect(reasons.filter((reason) => !known.includes(reason))).toEqual([])
    await eventually(() => gitChildren().length === 0, 'every git process is reaped')
  })

  test.runIf(HAS_PROC)(
    'git processes do not block later processes if a killed git leaves a child process that keeps its output open',
    async () => {
      const repository = freshRepository()
      repository.commit('Start')
      const gitFolder = unreliableGit()
      const never = join(gitFolder, 'never')
      vi.stubEnv('PATH', `${gitFolder}:${process.env.PATH}`)
      onTestFinished(() => {
        vi.unstubAllEnvs()
        // Ends the readers of the pipe, which see the end of the file.
        closeSync(openSync(never, constants.O_WRONLY | constants.O_NONBLOCK))
      })
      const wrapped = Array.from({ length: 2 }, () => runGit(repository.folder, 'blame', 'wrapped-1'))
      for (const result of await Promise.allSettled(wrapped))
        expect(result).toMatchObject({ reason: { reason: 'timeout' } })
      expect(listProcesses().filter(({ command }) => command.includes(never))).not.toEqual([])
      const [result] = await Promise.allSettled([runGit(repository.folder, 'blame', 'failing-1')])
      expect(result).toMatchObject({ status: 'rejected', reason: { reason: expect.stringMatching(/failed|timeout/) } })
    },
  )
})

const OUTCOMES = ['good', 'hanging', 'failing', 'killed'] as const
const FILES = OUTCOMES.flatMap((outcome) => [1, 2].map((n) => `${outcome}-${n}`))

/** A real git whose blame hangs, fails or is killed, depending on the name of the file. */
function unreliableGit(): string {
  const folder = temporaryFolder()
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  execFileSync('mkfifo', [join(folder, 'never')])
  const script = [
    '#!/bin/sh',
    'case "$*" in',
    `  *" blame "*hanging-*) exec cat '${join(folder, 'never')}' ;;`,
    `  *" blame "*wrapped-*) cat '${join(folder, 'never')}' & wait ;;`,
    '  *" blame "*failing-*) echo "fatal: bad object" >&2; exit 128 ;;',
    '  *" blame "*killed-*) kill -KILL $$ ;;',
    'esac',
    `exec '${git}' "$@"`,
  ]
  writeFileSync(join(folder, 'git'), `${script.join('\n')}\n`)
  chmodSync(join(folder, 'git'), 0o755)
  return folder
}

function startHost(node: string, project_root: string, gitFolder: string) {
  const folder = temporaryFolder()
  const settings = {
    ...CREDENTIALS,
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    spool_path: join(folder, 'spool'),
    project_root,
    enable_git_blame: true,
  }
  const files = FILES.map((name) => pathToFileURL(join(project_root, `src/${name}.mjs`)).href)
  const member = join(folder, 'member.cjs')
  writeFileSync(member, "process.send('up')\nsetInterval(() => {}, 1000)\n")
  writeFileSync(join(folder, 'orders.json'), JSON.stringify({ settings, files, member }))
  const program = fileURLToPath(new URL('../../hosts/children-host.mjs', import.meta.url))
  const child = spawn(node, [program, join(folder, 'orders.json')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PATH: `${gitFolder}:${process.env.PATH}` },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  return { child, lines }
}

describeWithGit('a host that shows source lines and has its own child processes', () => {
  describeEachRuntime('after its exit', ({ path: node }) => {
    test.runIf(HAS_PROC)('leaves no zombie and no git process behind', { timeout: 120_000 }, async () => {
      const repository = freshRepository()
      for (const name of FILES)
        repository.write(`src/${name}.mjs`, `export function fail() {\n  return new Error('${name}')\n}\n`)
      repository.commit('Add the files')
      const gitFolder = unreliableGit()
      const { child, lines } = startHost(node, repository.folder, gitFolder)
      await eventually(() => lines.length > 0 || child.exitCode !== null, 'the host has ended its children')
      const { authors, watched, unwatched } = JSON.parse(lines[0] ?? '{}')
      const expected = {
        good: expect.stringMatching(/^Ada,|^Git history is not available: git timed out/),
        hanging: expect.stringMatching(/^Git history is not available: git timed out/),
        failing: expect.stringMatching(
          /^Git history is not available for this line|^Git history is not available: git timed out/,
        ),
        killed: expect.stringMatching(
          /^Git history is not available for this line|^Git history is not available: git timed out/,
        ),
      }
      expect(authors).toEqual(OUTCOMES.flatMap((outcome) => Array(2).fill(expected[outcome])))
      const ends = ['SIGKILL', 'SIGSEGV', 'SIGTERM', 'SIGKILL', 'SIGKILL', 0, 'ENOENT']
      expect({ watched, unwatched }).toEqual({ watched: ends, unwatched: ends })
      const isLeft = ({ pid, parent, command }: ReturnType<typeof listProcesses>[number]) =>
        parent === child.pid ||
        (pid !== child.pid && (command.includes(repository.folder) || command.includes(gitFolder)))
      await eventually(() => !listProcesses().some(isLeft), 'no child, zombie or git process is left')
      expect(child.exitCode).toBeNull()
    })
  })
})

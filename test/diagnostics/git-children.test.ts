import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runGit } from '../../src/diagnostics/git/run-git.js'
import { describeWithGit, freshRepository } from '../support/repository.js'
import { eventually, temporaryFolder } from '../support/tracker.js'

/** State and name of the git processes that this process has started and not reaped. */
function gitChildren(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
        return Number(parent) === process.pid && name?.startsWith('git') ? [`${state} ${name}`] : []
      } catch {
        // The process has ended since the folder was listed.
        return []
      }
    })
}

describeWithGit('the git processes of Faultboard', () => {
  test.runIf(existsSync('/proc/self/stat'))('are reaped after success, failure and a full queue', async () => {
    const repository = freshRepository()
    repository.write('a.txt', 'one\n')
    repository.commit('Add a file')
    const good = Array.from({ length: 20 }, () => runGit(repository.folder, 'rev-parse', 'HEAD'))
    const bad = Array.from({ length: 20 }, () => runGit(temporaryFolder(), 'rev-parse', 'HEAD'))
    const crowd = Array.from({ length: 100 }, () => runGit(repository.folder, 'no-such-command'))
    const results = await Promise.allSettled([...good, ...bad, ...crowd])
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason.reason : 'fulfilled'))
    expect(reasons).toContain('busy')
    // A busy machine may let git run into its time limit, which kills it.
    const known = ['fulfilled', 'no_repository', 'failed', 'busy', 'late']
    expect(reasons.filter((reason) => !known.includes(reason))).toEqual([])
    await eventually(() => gitChildren().length === 0, 'every git process is reaped')
  })
})

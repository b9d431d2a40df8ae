import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeEachRuntime } from '../support/processes/runtimes.js'
import { describeWithGit, freshRepository } from '../support/repository.js'
import { CREDENTIALS, eventually, temporaryFolder } from '../support/tracker.js'

const CART = ['total', 'refund'].flatMap((name) => [
  `export async function ${name}(items) {`,
  '  if (items.length === 0) throw new Error(`empty`)',
  '}',
  '',
])

/** Creates a project with a deployed commit and a later commit that is checked out. */
function deployed() {
  const repository = freshRepository()
  repository.write('package.json', '{ "name": "shop", "type": "module" }')
  repository.write('src/cart.mjs', CART.join('\n'))
  const git_sha = repository.commit('Count the cart')
  return { ...repository, git_sha }
}

async function runHost(node: string, project_root: string, git_sha: string, never: string) {
  const folder = temporaryFolder()
  const settings = {
    ...CREDENTIALS,
    database: `sqlite:${join(folder, 'errors.sqlite3')}`,
    spool_path: join(folder, 'spool'),
    project_root,
    git_sha,
    enable_git_blame: true,
  }
  const file = pathToFileURL(join(project_root, 'src/cart.mjs')).href
  writeFileSync(join(folder, 'orders.json'), JSON.stringify({ settings, file, never }))
  const program = fileURLToPath(new URL('./hosts/source-host.mjs', import.meta.url))
  const child = spawn(node, [program, join(folder, 'orders.json')], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let errors = ''
  child.stdout.on('data', (bytes) => {
    output += bytes
  })
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the host ended with ${code}:\n${errors}`)
  return JSON.parse(output) as { number: number; line: string; author: string; hanging_author: string }
}

describeWithGit('a host with git', () => {
  describeEachRuntime('with an error in its own code', ({ path: node }) => {
    test('shows the highlighted source at its commit with the author, and kills a hanging git process when it exits', {
      timeout: 60_000,
    }, async () => {
      const { folder, git_sha, write, commit } = deployed()
      write('src/other.mjs', '')
      commit('Something else')
      const never = join(temporaryFolder(), 'never')
      execFileSync('mkfifo', [never])
      // The running lines are those of the deployed commit.
      const shown = await runHost(node, folder, git_sha.slice(0, 12), never)
      expect(shown).toMatchObject({ number: 2, author: expect.stringMatching(/^Ada, .+ · Count the cart · as of/) })
      expect(shown.author).toContain(`as of ${git_sha.slice(0, 7)}`)
      expect(shown.line).toContain('<span class="code-keyword">throw</span>')
      expect(shown.hanging_author).toMatch(/^(Loading Git history|Git history is not available)/)
      await eventually(() => !hasReader(never), 'git is gone')
    })
  })
})

/** Checks whether a process reads from a named pipe. */
function hasReader(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    // ENXIO: the pipe has no reader.
    return false
  }
}

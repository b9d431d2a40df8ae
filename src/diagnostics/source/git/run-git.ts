import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { addWithoutLeakWarning } from '../../../store/spool/listener-limit.js'
import { ConcurrencyLimit } from './concurrency-limit.js'

/** Reason why git returned no result. */
export type GitFailure = 'no_git' | 'no_repository' | 'refused' | 'timeout' | 'busy' | 'failed'

export class GitError extends Error {
  readonly reason: GitFailure

  constructor(reason: GitFailure) {
    super(`git: ${reason}`)
    this.reason = reason
  }
}

const TIMEOUT_MS = 2000
const MAX_OUTPUT_BYTES = 2_097_152

/**
 * Prevents git from running other programs, whatever the configuration of the repository: fsmonitor, hooks, pager, text
 * conversion, or a fetch of a partial clone. Commands that read the working copy are not allowed, because filters of the
 * repository cannot be turned off.
 */
const SAFE_OPTIONS = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...['core.fsmonitor=', 'core.hooksPath=/dev/null', 'core.askPass=', 'core.sshCommand=false', 'core.pager=cat'],
  ...['safe.bareRepository=explicit', 'blame.showRoot=false', 'blame.coloring=none', 'log.showSignature=false'],
].flatMap((part) => (part.startsWith('--') ? [part] : ['-c', part]))

/** Runs git in a folder and returns its output. Uses no shell. Rejects with a GitError. */
export async function runGit(folder: string, ...args: string[]): Promise<Buffer> {
  if (!(await concurrency.acquire())) throw new GitError('busy')
  try {
    return await spawnGit(folder, args)
  } finally {
    concurrency.release()
  }
}

const concurrency = new ConcurrencyLimit({ maxRunning: 2, maxWaiting: 100 })

function spawnGit(folder: string, args: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...SAFE_OPTIONS, '-C', folder, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(process.env),
      windowsHide: true,
    })
    let reason: GitFailure = 'failed'
    const abort = (failure: GitFailure) => {
      reason = failure
      child.kill('SIGKILL')
      // A wrapper script can leave a process that holds the pipes open, and `close` would wait for it.
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const timer = setTimeout(abort, TIMEOUT_MS, 'timeout').unref()
    const removeExitHandler = onHostExit(() => child.kill('SIGKILL'))
    // Git must not keep the host alive.
    child.unref()
    for (const stream of [child.stdout, child.stderr]) (stream as unknown as Socket).unref?.()
    const output: Buffer[] = []
    let size = 0
    child.stdout.on('data', (bytes: Buffer) => {
      size += bytes.length
      if (size > MAX_OUTPUT_BYTES) abort('failed')
      else output.push(bytes)
    })
    let stderr = ''
    child.stderr.on('data', (bytes: Buffer) => {
      if (stderr.length < 2000) stderr += bytes.toString('latin1')
    })
    const done = (settle: () => void) => {
      clearTimeout(timer)
      removeExitHandler()
      settle()
    }
    child.on('error', (error: NodeJS.ErrnoException) =>
      done(() => reject(new GitError(error.code === 'ENOENT' ? 'no_git' : 'failed'))),
    )
    child.on('close', (code) =>
      done(() => (code === 0 ? resolve(Buffer.concat(output)) : reject(new GitError(failureReason(stderr, reason))))),
    )
  })
}

function failureReason(stderr: string, fallback: GitFailure): GitFailure {
  if (stderr.includes('dubious ownership') || stderr.includes('unsafe repository')) return 'refused'
  return stderr.includes('not a git repository') ? 'no_repository' : fallback
}

/** Passes only the variables that git needs. The host's GIT_DIR, for example, could select another repository. */
function environment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'Path', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR']
  return {
    ...Object.fromEntries(names.filter((name) => host[name] !== undefined).map((name) => [name, host[name]])),
    LC_ALL: 'C',
    // Prevents a partial clone from fetching with a program that the repository configures.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
  }
}

const exitHandlers = new Set<() => void>()
let restoreListenerLimit = () => {}

function onExit(): void {
  for (const handler of exitHandlers) handler()
}

function onHostExit(handler: () => void): () => void {
  if (exitHandlers.size === 0)
    restoreListenerLimit = addWithoutLeakWarning(onExit, () => void process.on('exit', onExit))
  exitHandlers.add(handler)
  return () => {
    if (!exitHandlers.delete(handler) || exitHandlers.size > 0) return
    process.off('exit', onExit)
    restoreListenerLimit()
  }
}

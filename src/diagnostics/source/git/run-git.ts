import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { addWithoutLeakWarning } from '../../../store/spool/listener-limit.js'
import { Turns } from './turns.js'

/** Why git gave no answer. */
export type GitReason = 'no_git' | 'no_repository' | 'refused' | 'late' | 'busy' | 'failed'

export class GitTrouble extends Error {
  readonly reason: GitReason

  constructor(reason: GitReason) {
    super(`git: ${reason}`)
    this.reason = reason
  }
}

const TIME_LIMIT_MS = 2000
const MOST_BYTES = 2_097_152

/**
 * Whatever the configuration of the repository says, no other program is run: not by fsmonitor, hooks, a pager, text
 * conversion or a fetch of what a partial clone lacks. No command that reads the working copy may be asked for here,
 * because filters of the repository would run, and they cannot be turned off.
 */
const SAFELY = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...['core.fsmonitor=', 'core.hooksPath=/dev/null', 'core.askPass=', 'core.sshCommand=false', 'core.pager=cat'],
  ...['safe.bareRepository=explicit', 'blame.showRoot=false', 'blame.coloring=none', 'log.showSignature=false'],
].flatMap((part) => (part.startsWith('--') ? [part] : ['-c', part]))

/** What git answers in this folder, as bytes; rejects with a GitTrouble. Arguments never pass through a shell. */
export async function runGit(folder: string, ...words: string[]): Promise<Buffer> {
  if (!(await turns.take())) throw new GitTrouble('busy')
  try {
    return await answerOf(folder, words)
  } finally {
    turns.give()
  }
}

const turns = new Turns({ at_once: 2, most_waiting: 100 })

function answerOf(folder: string, words: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...SAFELY, '-C', folder, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(process.env),
      windowsHide: true,
    })
    let reason: GitReason = 'failed'
    const end = (why: GitReason) => {
      reason = why
      child.kill('SIGKILL')
      // A git that is a wrapper script may leave a process that holds the pipes open: `close` must not wait for it.
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const timer = setTimeout(end, TIME_LIMIT_MS, 'late').unref()
    const forget = endsWithTheHost(() => child.kill('SIGKILL'))
    // A host that has nothing else to do ends, and git with it.
    child.unref()
    for (const stream of [child.stdout, child.stderr]) (stream as unknown as Socket).unref?.()
    const output: Buffer[] = []
    let size = 0
    child.stdout.on('data', (bytes: Buffer) => {
      size += bytes.length
      if (size > MOST_BYTES) end('failed')
      else output.push(bytes)
    })
    let complaint = ''
    child.stderr.on('data', (bytes: Buffer) => {
      if (complaint.length < 2000) complaint += bytes.toString('latin1')
    })
    const done = (settle: () => void) => {
      clearTimeout(timer)
      forget()
      settle()
    }
    child.on('error', (error: NodeJS.ErrnoException) =>
      done(() => reject(new GitTrouble(error.code === 'ENOENT' ? 'no_git' : 'failed'))),
    )
    child.on('close', (code) =>
      done(() => (code === 0 ? resolve(Buffer.concat(output)) : reject(new GitTrouble(reasonOf(complaint, reason))))),
    )
  })
}

function reasonOf(complaint: string, otherwise: GitReason): GitReason {
  if (complaint.includes('dubious ownership') || complaint.includes('unsafe repository')) return 'refused'
  return complaint.includes('not a git repository') ? 'no_repository' : otherwise
}

/** Enough to find git and the settings of its user: nothing else of the host's, of which GIT_DIR would lead astray. */
function environment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'Path', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR']
  return {
    ...Object.fromEntries(names.filter((name) => host[name] !== undefined).map((name) => [name, host[name]])),
    LC_ALL: 'C',
    // A partial clone fetches what it lacks, and the repository says by which program.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
  }
}

const ends = new Set<() => void>()
let leave = () => {}

function onExit(): void {
  for (const end of ends) end()
}

function endsWithTheHost(end: () => void): () => void {
  if (ends.size === 0) leave = addWithoutLeakWarning(onExit, () => void process.on('exit', onExit))
  ends.add(end)
  return () => {
    if (!ends.delete(end) || ends.size > 0) return
    process.off('exit', onExit)
    leave()
  }
}

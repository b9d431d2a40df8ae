import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import type { LogErrorInput } from '../../src/index.js'
import { createTracker } from '../../src/index.js'

const MAIN = resolve('dist/cli/main.js')

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

interface CommandOptions {
  cwd: string
  env?: Record<string, string>
  /** Default: the program that was built last. */
  program?: string
}

export const CREDENTIALS = { FAULTBOARD_DASHBOARD_USERNAME: 'ada', FAULTBOARD_DASHBOARD_PASSWORD: 'correct horse' }

export function basicAuth(user: string, password: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } }
}

/** Runs the built CLI in a new process until it exits. */
export async function faultboard(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new RunningCommand(args, options).exited
}

/** True if `onTerminal` works here, which needs the `script` of util-linux. */
export const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** Runs the built CLI on a pseudo terminal, which merges both streams. */
export function onTerminal(
  args: readonly string[],
  { cwd, env = {}, columns = 120 }: CommandOptions & { columns?: number },
): string {
  const quoted = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const { stdout } = spawnSync('script', ['-qec', `stty cols ${columns}; ${quoted}`, '/dev/null'], {
    cwd,
    env: { ...cleanEnvironment(), TERM: 'xterm', ...env },
    encoding: 'utf8',
  })
  return stdout.replaceAll('\r\n', '\n')
}

/** CLI process that runs until it is stopped. */
export class RunningCommand {
  readonly exited: Promise<CommandResult>
  stdout = ''
  stderr = ''
  readonly #process: ChildProcess

  constructor(args: readonly string[], { cwd, env, program = MAIN }: CommandOptions) {
    this.#process = spawn(process.execPath, [program, ...args], { cwd, env: { ...cleanEnvironment(), ...env } })
    this.#process.stdout?.on('data', (data) => {
      this.stdout += data
    })
    this.#process.stderr?.on('data', (data) => {
      this.stderr += data
    })
    this.exited = new Promise((resolve) => {
      this.#process.on('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }))
    })
    processes.push(this.#process)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Waits for the first match of the pattern on standard output. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    let hasExited = false
    void this.exited.then(() => {
      hasExited = true
    })
    for (;;) {
      const match = pattern.exec(this.stdout)
      if (match) return match
      if (hasExited) throw new Error(`Exited without printing ${pattern}:\n${this.stdout}${this.stderr}`)
      await new Promise((resume) => setTimeout(resume, 20))
    }
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<CommandResult> {
    this.#process.kill(signal)
    return this.exited
  }
}

const processes: ChildProcess[] = []
const folders: string[] = []

afterEach(() => {
  for (const child of processes.splice(0)) child.kill('SIGKILL')
})

afterAll(async () => {
  for (const workingDirectory of folders) await rm(workingDirectory, { recursive: true, force: true })
})

/** Creates a folder with these files as the working directory of a command. */
export async function workingDirectory(files: Record<string, string> = {}): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'faultboard-cli-'))
  folders.push(path)
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

/** Records errors of an application. The schema must exist. */
export async function recordErrors(database: string, ...errors: LogErrorInput[]): Promise<void> {
  const tracker = createTracker({
    database,
    application_name: 'shop',
    dashboard_username: 'a',
    dashboard_password: 'b',
  })
  for (const error of errors) await tracker.Commands.LogError.call(error)
  await tracker.shutdown()
}

/** Without settings and without the names from which Node.js derives the colors of a terminal. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const PREFIXES =
    /^(FAULTBOARD_|(PORT|COLUMNS|APP_NAME|NODE_ENV|CI|TMUX|COLORTERM|TF_BUILD|TEAMCITY_VERSION|FORCE_COLOR|NO_COLOR|NODE_DISABLE_COLORS)$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !PREFIXES.test(name)))
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { afterAll, afterEach } from 'vitest'
import type { LogErrorInput } from '../../src/index.js'
import { createTracker } from '../../src/index.js'

const MAIN = resolve('dist/cli/main.js')
/** The program that `MAIN` loads. */
const PROGRAM = resolve('dist/cli/main.cjs')
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const
const require = createRequire(import.meta.url)

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

/** Runs the built CLI in a new process until it exits. For what only a process shows: pipes, signals, startup. */
export function faultboardProcess(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new RunningCommand(args, options).exited
}

interface InProcessOptions extends CommandOptions {
  /** Standard input. */
  input?: string
  /** Width of the terminal that shows both streams. Default: two pipes. */
  columns?: number
}

/**
 * Runs the built CLI in this process until it exits, which takes a tenth of the CPU time of a new process. Commands run
 * one after another, because they share the working directory and the environment.
 */
export function faultboard(args: readonly string[], options: InProcessOptions): Promise<CommandResult> {
  const result = previousCommand.then(() => runInThisProcess(args, options))
  previousCommand = result.catch(() => {})
  return result
}

let previousCommand: Promise<unknown> = Promise.resolve()

async function runInThisProcess(
  args: readonly string[],
  { cwd, env, input = '', columns }: InProcessOptions,
): Promise<CommandResult> {
  const stdout = new CapturedOutput(columns)
  const stderr = columns === undefined ? new CapturedOutput() : stdout
  const ownListeners = STOP_SIGNALS.flatMap((signal) => process.listeners(signal))
  const previousFolder = process.cwd()
  let restore = () => {}
  try {
    const code = await new Promise<number>((exit) => {
      restore = replaceProperties(process, {
        ...{ argv: [process.execPath, MAIN, ...args], env: { ...cleanEnvironment(), ...env } },
        ...{ stdin: Readable.from([Buffer.from(input)]), stdout, stderr, exit },
      })
      process.chdir(cwd)
      delete require.cache[PROGRAM]
      require(PROGRAM)
    })
    return { code, stdout: stdout.text, stderr: stderr.text }
  } finally {
    restore()
    process.chdir(previousFolder)
    // A command does not remove these listeners, because its process ends.
    for (const signal of STOP_SIGNALS) {
      for (const listener of process.listeners(signal))
        if (!ownListeners.includes(listener)) process.off(signal, listener)
    }
  }
}

/** Stream that keeps its output, a terminal if it has a width. */
class CapturedOutput extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly getColorDepth = WriteStream.prototype.getColorDepth

  constructor(readonly columns?: number) {
    super({ decodeStrings: false })
    this.isTTY = columns !== undefined
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk
    done()
  }
}

/** Returns a function that restores the properties. */
function replaceProperties(target: object, values: Record<string, unknown>): () => void {
  const previous = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const)
  for (const [name, value] of Object.entries(values)) Object.defineProperty(target, name, { ...DATA_PROPERTY, value })
  return () => {
    for (const [name, descriptor] of previous) if (descriptor) Object.defineProperty(target, name, descriptor)
  }
}

const DATA_PROPERTY = { configurable: true, enumerable: true, writable: true }

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

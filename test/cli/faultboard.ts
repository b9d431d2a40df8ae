import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import type { LogErrorInput } from '../../src/index.js'
import { createTracker } from '../../src/index.js'

const MAIN = resolve('dist/cli/main.js')

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface Surroundings {
  cwd: string
  env?: Record<string, string>
}

export const CREDENTIALS = { FAULTBOARD_DASHBOARD_USERNAME: 'ada', FAULTBOARD_DASHBOARD_PASSWORD: 'correct horse' }

export function basic(user: string, password: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } }
}

/** Runs the built command line as a process of its own, and gives what it said. */
export async function faultboard(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  return new Running(args, surroundings).ended
}

/** A command that goes on until it is stopped. */
export class Running {
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  readonly #process: ChildProcess

  constructor(args: readonly string[], { cwd, env }: Surroundings) {
    this.#process = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...cleanEnvironment(), ...env } })
    this.#process.stdout?.on('data', (data) => {
      this.stdout += data
    })
    this.#process.stderr?.on('data', (data) => {
      this.stderr += data
    })
    this.ended = new Promise((settle) => {
      this.#process.on('close', (code) => settle({ code, stdout: this.stdout, stderr: this.stderr }))
    })
    processes.push(this.#process)
  }

  /** The first match of the pattern on standard output. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    let isOver = false
    void this.ended.then(() => {
      isOver = true
    })
    for (;;) {
      const match = pattern.exec(this.stdout)
      if (match) return match
      if (isOver) throw new Error(`it ended without saying ${pattern}:\n${this.stdout}${this.stderr}`)
      await new Promise((resume) => setTimeout(resume, 20))
    }
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.#process.kill(signal)
    return this.ended
  }
}

const processes: ChildProcess[] = []
const folders: string[] = []

afterEach(() => {
  for (const child of processes.splice(0)) child.kill('SIGKILL')
})

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** A new folder with these files, in which a command is run. */
export async function folder(files: Record<string, string> = {}): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'faultboard-cli-'))
  folders.push(path)
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

/** Records errors as an application would; the schema must be there. */
export async function record(database: string, ...errors: LogErrorInput[]): Promise<void> {
  const tracker = createTracker({
    database,
    application_name: 'shop',
    dashboard_username: 'a',
    dashboard_password: 'b',
  })
  for (const error of errors) await tracker.Commands.LogError.call(error)
  await tracker.shutdown()
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(FAULTBOARD_|PORT$|COLUMNS$|APP_NAME$|NODE_ENV$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}

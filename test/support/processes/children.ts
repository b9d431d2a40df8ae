import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import type { Settings } from '../../../src/options.js'
import { temporaryFolder } from '../tracker.js'

/** Input of a child process of test/store/fixtures. */
export interface ChildInput {
  settings?: Settings
  events?: LogErrorInput[]
  [other: string]: unknown
}

export interface Child {
  process: ChildProcess
  /** Lines written to standard output so far. */
  lines: string[]
  errors: string[]
  /** Exit code or signal. */
  exited: Promise<number | string>
}

/** Starts a program of test/store/fixtures. It is killed after the test if it is still running. */
export function startChild(name: string, input: ChildInput): Child {
  const file = join(temporaryFolder(), 'orders.json')
  writeFileSync(file, JSON.stringify(input))
  const program = fileURLToPath(new URL(`../../store/fixtures/${name}.mjs`, import.meta.url))
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const exited = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return { process: child, lines, errors, exited }
}

/** Runs a program until it exits and returns its last line, parsed as JSON. */
export async function runChild<Result>(name: string, input: ChildInput): Promise<Result> {
  const child = startChild(name, input)
  const end = await child.exited
  if (end !== 0) throw new Error(`${name} ended with ${end}:\n${child.errors.join('\n')}`)
  return JSON.parse(child.lines.at(-1) ?? 'null') as Result
}

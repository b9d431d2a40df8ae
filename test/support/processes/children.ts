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

/** What a child process is to do; see test/store/fixtures/. */
export interface Orders {
  settings?: Settings
  events?: LogErrorInput[]
  [other: string]: unknown
}

export interface Child {
  process: ChildProcess
  /** The lines it wrote to standard output so far. */
  lines: string[]
  errors: string[]
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>
}

/** Starts a program of test/store/fixtures. It is killed when the test is done, should it still run. */
export function startChild(name: string, orders: Orders): Child {
  const file = join(temporaryFolder(), 'orders.json')
  writeFileSync(file, JSON.stringify(orders))
  const program = fileURLToPath(new URL(`../../store/fixtures/${name}.mjs`, import.meta.url))
  const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return { process: child, lines, errors, ended }
}

/** Runs one to its end and gives its last line, which is JSON. */
export async function runChild<Result>(name: string, orders: Orders): Promise<Result> {
  const child = startChild(name, orders)
  const end = await child.ended
  if (end !== 0) throw new Error(`${name} ended with ${end}:\n${child.errors.join('\n')}`)
  return JSON.parse(child.lines.at(-1) ?? 'null') as Result
}

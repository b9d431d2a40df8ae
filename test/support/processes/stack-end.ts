import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { migratedSqlite } from '../databases.js'
import { CREDENTIALS, eventually, spoolIsEmpty, temporaryFolder, trackerAt } from '../tracker.js'
import type { Runtime } from './runtimes.js'

interface ProgramInput {
  /** Added to the settings of the tracker. Null runs the program without a tracker. */
  settings?: Settings | null
  /** Arguments for Node.js. */
  flags?: readonly string[]
  env?: Record<string, string>
  [order: string]: unknown
}

/** Runs a program of test/capture/fixtures until it exits. Returns its output and the errors stored after a restart. */
export async function runAtStackEnd<Output>(
  runtime: Runtime,
  program: string,
  { settings: extraSettings, flags = [], env = {}, ...orders }: ProgramInput,
) {
  const folder = temporaryFolder()
  // Spares the program the migrations.
  const { url, remove } = await migratedSqlite()
  onTestFinished(remove)
  const spool_path = join(folder, 'spool')
  const settings = extraSettings === null ? null : { ...hostSettings(url, spool_path), ...extraSettings }
  const file = join(folder, 'orders.json')
  writeFileSync(file, JSON.stringify({ settings, ...orders }))
  const path = fileURLToPath(new URL(`../../capture/fixtures/${program}`, import.meta.url))
  const child = spawn(runtime.path, [...flags, path, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const output = JSON.parse(stdout || '{}') as Output
  const counts = settings && signal === null ? await storedCounts(url, spool_path) : {}
  return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr, output, counts }
}

function hostSettings(database: string, spool_path: string): Settings {
  return {
    ...CREDENTIALS,
    database,
    spool_path,
    application_name: 'shop',
    max_event_loop_lag_ms: null,
    enable_breadcrumbs: true,
    enable_request_guard_tracking: true,
  }
}

async function storedCounts(url: string, spool_path: string): Promise<Record<string, number>> {
  const { tracker } = trackerAt({ url, spool_path })
  await tracker.ready()
  await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
  const counts: Record<string, number> = {}
  for (const { message, occurrence_count } of await tracker.Queries.ErrorsList.call({ per_page: 100 })) {
    counts[message] = (counts[message] ?? 0) + occurrence_count
  }
  expect(Object.keys(counts).length).toBeLessThan(100)
  return counts
}

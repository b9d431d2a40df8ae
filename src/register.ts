import { isMainThread } from 'node:worker_threads'
import { preloadDetection } from './diagnostics/swallowed/detection/preload.js'
import { ConfigurationError, Tracker } from './index.js'

/*
 * node --import faultboard/register app.js
 *
 * Starts the process-wide tracker before the application's first line, in every process and thread that inherits the
 * flag. What it needs comes from the environment; an application that calls Tracker.configure or Tracker.start later is
 * heard as if nothing had been started.
 */
if (!isLoaderThread()) {
  // The host must start all the same, whatever fails. Its threads would only repeat the line.
  attempt('Swallowed exceptions are not detected', () =>
    preloadDetection({ env: process.env, dist: new URL('.', import.meta.url), warn: printLine }),
  )
  attempt('faultboard/register did not start', () => Tracker.startProvisionally())
}

/**
 * Below Node.js 22.15, what `-r` names is loaded into the thread that loads modules too, which runs no script. To begin
 * anything there ends the process without a word.
 */
function isLoaderThread(): boolean {
  return !isMainThread && process.argv.length < 2
}

function attempt(failed: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (isMainThread) printLine(`${failed}: ${reasonOf(error)}`)
  }
}

function printLine(message: string): void {
  process.stderr.write(`[faultboard] ${message}\n`)
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.problems.join('; ')
  return error instanceof Error ? error.message : String(error)
}

import { isMainThread } from 'node:worker_threads'
import { preloadDetection } from './diagnostics/swallowed/detection/preload.js'
import { ConfigurationError, Tracker } from './index.js'

/*
 * node --import faultboard/register app.js
 *
 * Starts the process-wide tracker before the application's first line, in every process and thread that inherits the
 * flag. Reads its options from the environment. An application can still call Tracker.configure or Tracker.start later.
 */
if (!isLoaderThread()) {
  // The host must start despite any failure. Only the main thread logs failures.
  attempt('Swallowed exceptions are not detected', () =>
    preloadDetection({ env: process.env, dist: new URL('.', import.meta.url), warn: printLine }),
  )
  attempt('faultboard/register did not start', () => Tracker.startProvisionally())
}

/**
 * Before Node.js 22.15, modules preloaded with `-r` are also loaded into the loader thread, which runs no script.
 * Starting a tracker there ends the process silently.
 */
function isLoaderThread(): boolean {
  return !isMainThread && process.argv.length < 2
}

function attempt(failed: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (isMainThread) printLine(`${failed}: ${startFailure(error)}`)
  }
}

function printLine(message: string): void {
  process.stderr.write(`[faultboard] ${message}\n`)
}

function startFailure(error: unknown): string {
  if (error instanceof ConfigurationError) return error.problems.join('; ')
  return error instanceof Error ? error.message : String(error)
}

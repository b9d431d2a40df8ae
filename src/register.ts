import { isMainThread } from 'node:worker_threads'
import { ConfigurationError, Tracker } from './index.js'

/*
 * node --import faultboard/register app.js
 *
 * Starts the process-wide tracker before the application's first line, in every process and thread that inherits the
 * flag. What it needs comes from the environment; an application that calls Tracker.configure or Tracker.start later is
 * heard as if nothing had been started.
 */
try {
  Tracker.startProvisionally()
} catch (error) {
  // The host must start all the same. Its threads would only repeat the line.
  if (isMainThread) process.stderr.write(`[faultboard] faultboard/register did not start: ${reasonOf(error)}\n`)
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.problems.join('; ')
  return error instanceof Error ? error.message : String(error)
}

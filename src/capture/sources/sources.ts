import { breadcrumbChannel } from '../breadcrumbs/breadcrumb-channel.js'
import { consoleLines } from '../breadcrumbs/console.js'
import { fetchCalls } from '../breadcrumbs/fetch.js'
import { httpClient } from '../breadcrumbs/http-client.js'
import { pinoLines } from '../breadcrumbs/pino.js'
import { processWarnings } from '../breadcrumbs/warnings.js'
import { crashCapture } from '../crash/crash-capture.js'
import { childProcesses } from './child-processes.js'
import { handledRejections, uncaughtExceptions } from './process.js'
import { reportChannel } from './report-channel.js'
import type { Reporter, Source } from './source.js'
import { workerThreads } from './worker-threads.js'

/** Sources of errors. Controlled by `enable_error_subscriber`. */
const ERROR_SOURCES: readonly Source[] = [
  reportChannel,
  uncaughtExceptions,
  handledRejections,
  workerThreads,
  childProcesses,
]

/** Sources that do not depend on `enable_error_subscriber`. Controlled by `crash_capture_path`. */
const CRASH_SOURCES: readonly Source[] = [uncaughtExceptions, crashCapture]

/** Sources of breadcrumbs. Controlled by `enable_breadcrumbs`. */
const BREADCRUMB_SOURCES: readonly Source[] = [
  httpClient,
  fetchCalls,
  consoleLines,
  processWarnings,
  pinoLines,
  breadcrumbChannel,
]

/** Starts all enabled sources. Returns the function that stops them. */
export function startSources(reporter: Reporter): () => void {
  const { config } = reporter.context
  const sources = new Set([
    ...(config.enable_error_subscriber ? ERROR_SOURCES : []),
    ...(config.crash_capture_path ? CRASH_SOURCES : []),
    ...(config.enable_breadcrumbs ? BREADCRUMB_SOURCES : []),
  ])
  const stops = [...sources].map((source) => source(reporter))
  return () => {
    // Stops in reverse order, so that each wrapper restores the state it found.
    for (const end of stops.reverse()) end()
  }
}

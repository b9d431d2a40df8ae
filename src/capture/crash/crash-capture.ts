import { lstatSync, mkdirSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { Source } from '../sources/source.js'
import { thrownMessage } from '../values/thrown-value.js'
import { writeFatalReports } from './fatal-reports.js'
import { collectLeftovers } from './leftovers.js'
import { recordFailedExit } from './process-exit.js'
import { markRunning } from './running-marker.js'

/**
 * Records crashes of the process. Errors visible to JavaScript are written before exit; the rest is collected from the
 * crash folder at the next start. Only the main thread handles process-wide state.
 */
export const crashCapture: Source = (reporter) => {
  const { recorder, config, log, now } = reporter.context
  const folder = recorder.crashFolder
  if (folder === null || !isMainThread) return () => undefined
  const stops = [recordFailedExit(reporter)]
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { app_version, git_sha } = config
    if (isPrivate(folder)) stops.push(writeFatalReports(folder))
    else log.warn(`${folder} is readable by other users, so diagnostic reports are disabled. Run chmod 700 on it.`)
    stops.push(markRunning(folder, { app_version, git_sha, started_at: now() }))
  } catch (error) {
    log.warn(`Cannot use the crash folder ${folder}: ${thrownMessage(error)}`)
  }
  collectLeftovers(reporter).catch((error: unknown) => {
    log.warn(`Cannot read the crash files in ${folder}: ${thrownMessage(error)}`)
  })
  return () => {
    for (const end of stops) end()
  }
}

/** Node.js writes all environment variables into a diagnostic report, so the folder must be private. */
function isPrivate(folder: string): boolean {
  const { mode, uid } = lstatSync(folder)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
}

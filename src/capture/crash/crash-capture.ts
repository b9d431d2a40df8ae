import { lstatSync, mkdirSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { Source } from '../sources/source.js'
import { reasonOf } from '../values/thrown-value.js'
import { writeFatalReports } from './fatal-reports.js'
import { collectLeftovers } from './leftovers.js'
import { recordFailedExit } from './process-exit.js'
import { markRunning } from './running-marker.js'

/**
 * Keeps what ends the process: what JavaScript still sees is written before it is over, the rest is found in the crash
 * folder at the next start. What concerns the process as a whole is the main thread's business.
 */
export const crashCapture: Source = (reporter) => {
  const { recorder, config, log, now } = reporter.context
  const folder = recorder.crash_folder
  if (folder === null || !isMainThread) return () => undefined
  const ends = [recordFailedExit(reporter)]
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { app_version, git_sha } = config
    if (isPrivate(folder)) ends.push(writeFatalReports(folder))
    else log.warn(`${folder} can be read by others, so no diagnostic reports are written there: chmod 700 it.`)
    ends.push(markRunning(folder, { app_version, git_sha, started_at: now() }))
  } catch (error) {
    log.warn(`The crash folder ${folder} cannot be used: ${reasonOf(error)}`)
  }
  collectLeftovers(reporter).catch((error: unknown) => {
    log.warn(`What a crash had left in ${folder} could not be read: ${reasonOf(error)}`)
  })
  return () => {
    for (const end of ends) end()
  }
}

/** Node.js writes all environment variables into a diagnostic report, which everybody may read. */
function isPrivate(folder: string): boolean {
  const { mode, uid } = lstatSync(folder)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
}

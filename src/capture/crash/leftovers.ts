import { AsyncLocalStorage } from 'node:async_hooks'
import { readdirSync } from 'node:fs'
import { readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reporter } from '../sources/source.js'
import { thrownMessage } from '../values/thrown-value.js'
import { crashId, readFatalReport, reportPid } from './fatal-reports.js'
import { namedError } from './named-error.js'
import { claimEndedProcess, type EndedProcess, isOwnMarker, markerPid } from './running-marker.js'

const MAX_REPORT_BYTES = 5_000_000
const MAX_REPORTS = 50

/** The tracker can start inside a request, which is unrelated to the crash of an earlier process. */
const outsideOfRequests = AsyncLocalStorage.snapshot()

/**
 * Records errors for processes that ended without cleanup: diagnostic reports and leftover markers. Writes each error
 * to a crash file with a deterministic id before removing its source. A process killed in between neither loses nor
 * duplicates an error.
 */
export async function collectLeftovers(reporter: Reporter): Promise<void> {
  const { recorder, config, now } = reporter.context
  const folder = recorder.crashFolder
  if (folder === null) return
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const endedProcess = await claimEndedProcess(folder, name, now())
    if (!endedProcess) continue
    const report = await findReport(endedProcess, folder)
    if (report) await recordReport(reporter, folder, report, endedProcess)
    else if (config.detect_unclean_shutdown) recordUncleanShutdown(reporter, endedProcess)
    await endedProcess.remove()
  }
  const markedPids = new Set(names.filter((name) => !isOwnMarker(name)).map(markerPid))
  // Other reports belong to the process that claimed the marker.
  const orphans = names.filter((name) => reportPid(name) !== null && !markedPids.has(reportPid(name)))
  for (const name of orphans.slice(0, MAX_REPORTS)) await recordReport(reporter, folder, name, null)
}

/** Checks whether a process left a diagnostic report, which contains the most information about its crash. */
export function hasLeftReport(folder: string, pid: number): boolean {
  try {
    return readdirSync(folder).some((name) => reportPid(name) === pid)
  } catch {
    // The folder does not exist, so there are no reports.
    return false
  }
}

/**
 * Finds the first report written after the process started. In a container, the folder can contain reports of other
 * processes with the same pid.
 */
async function findReport({ pid, started_at = 0 }: EndedProcess, folder: string): Promise<string | null> {
  const names = (await readdir(folder)).filter((name) => reportPid(name) === pid)
  const reports = await Promise.all(names.map(async (name) => ({ name, at: await writtenAt(join(folder, name)) })))
  const candidates = reports.filter(({ at }) => at >= started_at).sort((a, b) => a.at - b.at)
  return candidates[0]?.name ?? null
}

async function writtenAt(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? -1
}

async function recordReport(
  { context, report }: Reporter,
  folder: string,
  name: string,
  endedProcess: EndedProcess | null,
): Promise<void> {
  const file = join(folder, name)
  try {
    if ((await stat(file)).size > MAX_REPORT_BYTES) throw new Error('the file is too large')
    const fatal = readFatalReport(await readFile(file, 'utf8'))
    // Leaves a report that was written for another reason in place.
    if (!fatal) return
    const release = { app_version: endedProcess?.app_version ?? undefined, git_sha: endedProcess?.git_sha ?? undefined }
    context.recorder.recordToDisk(
      () => outsideOfRequests(() => report(fatal.error, { ...fatal.fields, ...release })),
      crashId(endedProcess?.marker ?? name),
    )
    await unlink(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    context.log.warn(`Cannot read a diagnostic report; kept as ${file}.failed: ${thrownMessage(error)}`)
    await rename(file, `${file}.failed`).catch(() => undefined)
  }
}

function recordUncleanShutdown({ context, report }: Reporter, { pid, marker, ...facts }: EndedProcess): void {
  const { app_version, git_sha, started_at } = facts
  const error = namedError(
    'UncleanShutdown',
    'A process ended without a clean exit: it was killed, or crashed outside of JavaScript',
  )
  context.recorder.recordToDisk(
    () =>
      outsideOfRequests(() =>
        report(error, {
          source: 'running_marker',
          unhandled: true,
          app_version: app_version ?? undefined,
          git_sha: git_sha ?? undefined,
          context: {
            crashed_process: { pid, ...(started_at ? { started_at: new Date(started_at).toISOString() } : {}) },
          },
        }),
      ),
    crashId(marker),
  )
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { readdirSync } from 'node:fs'
import { readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reporter } from '../sources/source.js'
import { reasonOf } from '../values/thrown-value.js'
import { idOfDeath, pidOfReport, readFatalReport } from './fatal-reports.js'
import { namedError } from './named-error.js'
import { claimEnded, type EndedProcess, isOwnMarker, pidOfMarker } from './running-marker.js'

const MAX_REPORT_BYTES = 5_000_000
const MAX_REPORTS = 50

/** The start may happen in a request, with which an earlier process's death has nothing to do. */
const outsideOfRequests = AsyncLocalStorage.snapshot()

/**
 * Makes errors of what processes that are gone have left: diagnostic reports and markers that nobody removed. Each is
 * written to a crash file first and removed then, under an id that follows from it: a process that is killed in between
 * neither loses nor doubles it.
 */
export async function collectLeftovers(reporter: Reporter): Promise<void> {
  const { recorder, config, now } = reporter.context
  const folder = recorder.crash_folder
  if (folder === null) return
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const ended = await claimEnded(folder, name, now())
    if (!ended) continue
    const report = await reportOf(ended, folder)
    if (report) await recordReport(reporter, folder, report, ended)
    else if (config.detect_unclean_shutdown) recordUncleanShutdown(reporter, ended)
    await ended.remove()
  }
  const marked = new Set(names.filter((name) => !isOwnMarker(name)).map(pidOfMarker))
  // The others belong to whoever has taken the marker of their process.
  const orphans = names.filter((name) => pidOfReport(name) !== null && !marked.has(pidOfReport(name)))
  for (const name of orphans.slice(0, MAX_REPORTS)) await recordReport(reporter, folder, name, null)
}

/** Whether a process has left a diagnostic report, which tells more about its end than anybody else can. */
export function hasLeftReport(folder: string, pid: number): boolean {
  try {
    return readdirSync(folder).some((name) => pidOfReport(name) === pid)
  } catch {
    // No folder, no reports.
    return false
  }
}

/** The first that was written after the process had started: others with its pid, as in a container, have their own. */
async function reportOf({ pid, started_at = 0 }: EndedProcess, folder: string): Promise<string | null> {
  const names = (await readdir(folder)).filter((name) => pidOfReport(name) === pid)
  const reports = await Promise.all(names.map(async (name) => ({ name, at: await writtenAt(join(folder, name)) })))
  const later = reports.filter(({ at }) => at >= started_at).sort((a, b) => a.at - b.at)
  return later[0]?.name ?? null
}

async function writtenAt(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? -1
}

async function recordReport(
  { context, report }: Reporter,
  folder: string,
  name: string,
  ended: EndedProcess | null,
): Promise<void> {
  const file = join(folder, name)
  try {
    if ((await stat(file)).size > MAX_REPORT_BYTES) throw new Error('it is too large')
    const fatal = readFatalReport(await readFile(file, 'utf8'))
    // Written for another reason, and therefore somebody else's.
    if (!fatal) return
    const release = { app_version: ended?.app_version ?? undefined, git_sha: ended?.git_sha ?? undefined }
    context.recorder.onDisk(
      () => outsideOfRequests(() => report(fatal.error, { ...fatal.fields, ...release })),
      idOfDeath(ended?.marker ?? name),
    )
    await unlink(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    context.log.warn(`A diagnostic report could not be read and is kept as ${file}.failed: ${reasonOf(error)}`)
    await rename(file, `${file}.failed`).catch(() => undefined)
  }
}

function recordUncleanShutdown({ context, report }: Reporter, { pid, marker, ...known }: EndedProcess): void {
  const { app_version, git_sha, started_at } = known
  const error = namedError(
    'UncleanShutdown',
    'A process was gone without having ended: killed, or crashed outside of JavaScript',
  )
  context.recorder.onDisk(
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
    idOfDeath(marker),
  )
}

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { readFile, rename, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { atExit } from '../../store/spool/at-exit.js'
import { isProcessRunning } from '../../store/spool/is-process-running.js'

/** Facts about a running process, for the process that later detects its crash. */
export interface RunningProcess {
  pid: number
  app_version: string | null
  git_sha: string | null
  started_at: number
}

/** A process that ended without removing its marker. The process that claimed the marker removes it. */
export interface EndedProcess extends Partial<RunningProcess> {
  pid: number
  /** Identical every time the marker is found. */
  marker: string
  remove(): Promise<void>
}

interface Marker extends RunningProcess {
  hostname: string
  boot_id: string | null
  start_ticks: string | null
}

const MARKER_NAME = /^(running-(\d+)-[0-9a-f]+\.json)(?:\.importing-(\d+)-([0-9a-f]+))?$/
const MAX_FOREIGN_AGE_MS = 30 * 86_400_000

/** Distinguishes processes with the same pid, which is common in containers. */
const START_ID = randomBytes(4).toString('hex')
const ownMarkers = new Map<string, { count: number; file: string; content: string }>()
let stopAtExit = () => {}

/** Creates a marker file for this process. Returns the function that removes it; a clean exit also removes it. */
export function markRunning(folder: string, facts: Omit<RunningProcess, 'pid'>): () => void {
  const existing = ownMarkers.get(folder)
  if (existing) existing.count++
  else {
    const file = join(folder, `running-${process.pid}-${START_ID}.json`)
    const marker: Marker = {
      ...facts,
      pid: process.pid,
      hostname: hostname(),
      boot_id: bootId(),
      start_ticks: startTicks(process.pid),
    }
    const content = JSON.stringify(marker)
    writeFileSync(file, content, { mode: 0o600 })
    if (ownMarkers.size === 0) stopAtExit = atExit('marker', removeMarkers)
    ownMarkers.set(folder, { count: 1, file, content })
  }
  return () => releaseMarker(folder)
}

function releaseMarker(folder: string): void {
  const marker = ownMarkers.get(folder)
  if (!marker || --marker.count > 0) return
  ownMarkers.delete(folder)
  if (ownMarkers.size === 0) stopAtExit()
  removeFile(marker.file)
}

/** Removes the markers when the process may be about to end. */
export function removeMarkers(): void {
  for (const { file } of ownMarkers.values()) removeFile(file)
}

/** Restores the markers when the process continued. */
export function restoreMarkers(): void {
  for (const { file, content } of ownMarkers.values()) {
    try {
      writeFileSync(file, content, { mode: 0o600 })
    } catch {
      // Without the marker, only a kill by a signal would go unrecorded.
    }
  }
}

function removeFile(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // The folder was emptied or became read-only: the exit must continue.
  }
}

/** Process id of a marker by its file name; null for other files. */
export function markerPid(name: string): number | null {
  const pid = MARKER_NAME.exec(name)?.[2]
  return pid === undefined ? null : Number(pid)
}

export function isOwnMarker(name: string): boolean {
  return name === `running-${process.pid}-${START_ID}.json`
}

/** Removes the markers of a process whose end is already recorded. */
export function removeMarkersByPid(folder: string, pid: number): void {
  try {
    for (const name of readdirSync(folder)) if (markerPid(name) === pid) removeFile(join(folder, name))
  } catch {
    // The folder does not exist, so there are no markers.
  }
}

/** Claims the marker of an ended process; null if the process runs, or another process claimed it first. */
export async function claimEndedProcess(folder: string, name: string, now: number): Promise<EndedProcess | null> {
  const [, marker, pid, claimant, start] = MARKER_NAME.exec(name) ?? []
  if (!marker || isOwnMarker(name)) return null
  if (claimant && (Number(claimant) === process.pid ? start === START_ID : isProcessRunning(Number(claimant))))
    return null
  const file = join(folder, name)
  const content = await readMarker(file)
  if (!claimant && (await mayBeRunning(file, { ...content, pid: Number(pid) }, now))) return null
  const claimed = join(folder, `${marker}.importing-${process.pid}-${START_ID}`)
  try {
    await rename(file, claimed)
  } catch {
    // Another process claimed the marker first.
    return null
  }
  return { ...content, pid: Number(pid), marker, remove: () => unlink(claimed).catch(() => undefined) }
}

async function readMarker(file: string): Promise<Partial<Marker>> {
  try {
    const content: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof content === 'object' && content !== null ? content : {}
  } catch {
    // The process died while writing the marker. The file name still contains the pid.
    return {}
  }
}

async function mayBeRunning(file: string, marker: Partial<Marker> & { pid: number }, now: number): Promise<boolean> {
  const { pid } = marker
  // A process on another machine or container cannot be checked from here.
  if (marker.hostname !== undefined && marker.hostname !== hostname()) return !(await isAbandoned(file, now))
  if (marker.boot_id && marker.boot_id !== bootId()) return false
  if (pid === process.pid) return false
  if (!isProcessRunning(pid)) return false
  const ticks = startTicks(pid)
  return !marker.start_ticks || ticks === null || ticks === marker.start_ticks
}

async function isAbandoned(file: string, now: number): Promise<boolean> {
  const writtenAt = (await stat(file).catch(() => null))?.mtimeMs
  return writtenAt !== undefined && now - writtenAt > MAX_FOREIGN_AGE_MS
}

/** Start time of the process in ticks since boot; null if the platform does not provide it. */
function startTicks(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`)
  // The program name is in parentheses and can contain spaces.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

function bootId(): string | null {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not available on every platform.
    return null
  }
}

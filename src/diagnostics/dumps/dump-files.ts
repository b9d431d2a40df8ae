import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { dumpOptions } from './options.js'

export const FILE_KINDS = ['cpu_profile', 'heap_snapshot'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** The endings by which the tools that open them know them. */
const ENDINGS: Record<FileKind, string> = { cpu_profile: 'cpuprofile', heap_snapshot: 'heapsnapshot' }
const NAME = /^dump-\d{1,16}-[0-9a-f]{16}\.(?:cpuprofile|heapsnapshot)$/

/** Beyond these, the oldest files of the folder go. */
export const MAX_FILES = 10
export const MAX_FILE_BYTES = 2 * 1024 ** 3

/** A file that belongs to a dump. It lies on the machine that made it, not in the database. */
export interface DumpFile {
  kind: FileKind
  name: string
  size_bytes: number
  hostname: string
}

type Place = Pick<Context, 'config' | 'spool'>

/** Always one of our own: what the host names may be used by others too. */
export function dumpFolder({ config, spool }: Place): string {
  const { diagnostic_dump_path } = readOptions(config, dumpOptions)
  return diagnostic_dump_path
    ? resolve(config.project_root, diagnostic_dump_path, 'faultboard-dumps')
    : `${spool.folder}-dumps`
}

/** Lets the work write a file under a name that nobody shares; it appears whole, or not at all. */
export async function keepFile(
  context: Pick<Context, 'config' | 'spool' | 'now'>,
  kind: FileKind,
  write: (path: string) => Promise<void>,
): Promise<DumpFile> {
  const folder = await openFolder(context)
  const name = `dump-${context.now()}-${randomBytes(8).toString('hex')}.${ENDINGS[kind]}`
  const unfinished = join(folder, `${name}.tmp`)
  try {
    await write(unfinished)
    await chmod(unfinished, 0o600)
    await rename(unfinished, join(folder, name))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  const { size } = await lstat(join(folder, name))
  await makeRoom(folder, name)
  return { kind, name, size_bytes: size, hostname: hostname() }
}

/** The file, to be read by whoever downloads it; null when it is not here. */
export async function findFile(context: Place, { name }: DumpFile): Promise<{ path: string; bytes: number } | null> {
  if (!NAME.test(name) || !(await isOurs(dumpFolder(context)))) return null
  const path = join(dumpFolder(context), name)
  const entry = await lstat(path).catch(() => null)
  return entry?.isFile() ? { path, bytes: entry.size } : null
}

const CHUNK_BYTES = 65_536

/** The file is opened with the first byte that is read of it: whoever asks for the head of an answer opens nothing. */
export function streamFile(path: string): ReadableStream<Uint8Array> {
  let file: FileHandle | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A link that somebody put in its place is not followed.
        file ??= await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
        const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES)
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
        await file.close()
        controller.close()
      },
      async cancel() {
        await file?.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Those that lie on another machine go when that one needs the room. */
export async function removeFiles(context: Place, files: readonly DumpFile[]): Promise<void> {
  for (const { name } of files) {
    if (NAME.test(name)) await rm(join(dumpFolder(context), name), { force: true })
  }
}

async function openFolder(context: Place): Promise<string> {
  const folder = dumpFolder(context)
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(folder, { mode: 0o700 }).catch(unlessThere)
    if (!(await isOurs(folder))) throw new Error('it is no folder of this user, or others may enter it')
    return folder
  } catch (cause) {
    throw new TrackerError(
      'not_possible_now',
      `The folder for files of dumps cannot be used (${(cause as Error).message}). Set diagnostic_dump_path to one that this process may write.`,
      { cause },
    )
  }
}

/** It may lie in a temporary directory that others can write to. */
async function isOurs(folder: string): Promise<boolean> {
  const entry = await lstat(folder).catch(() => null)
  if (!entry?.isDirectory()) return false
  return !process.getuid || (entry.uid === process.getuid() && (entry.mode & OTHERS_MAY) === 0)
}

const OTHERS_MAY = 0o077

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** The oldest go, never the one that was just written. Their names sort by time. */
async function makeRoom(folder: string, newest: string): Promise<void> {
  const names = (await readdir(folder))
    .filter((name) => NAME.test(name) && name !== newest)
    .sort(byTime)
    .reverse()
  let bytes = (await lstat(join(folder, newest))).size
  let count = 1
  for (const name of names) {
    const entry = await lstat(join(folder, name)).catch(() => null)
    bytes += entry?.size ?? 0
    if (++count > MAX_FILES || bytes > MAX_FILE_BYTES) await rm(join(folder, name), { force: true })
  }
  const unfinished = (await readdir(folder)).filter((name) => name.endsWith('.tmp') && NAME.test(name.slice(0, -4)))
  // One file is made at a time in a process; what another process has left for long, it has left for good.
  for (const name of unfinished.filter((name) => timeOf(newest) - timeOf(name) > ABANDONED_MS)) {
    await rm(join(folder, name), { force: true })
  }
}

const ABANDONED_MS = 3_600_000

function timeOf(name: string): number {
  return Number(name.split('-')[1])
}

function byTime(a: string, b: string): number {
  return timeOf(a) - timeOf(b)
}

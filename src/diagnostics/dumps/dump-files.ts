import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type * as v from 'valibot'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import * as r from '../../model/result.js'
import { dumpOptions } from './options.js'

export const FILE_KINDS = ['cpu_profile', 'heap_snapshot'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** File extensions that Chrome DevTools expects. */
const EXTENSIONS: Record<FileKind, string> = { cpu_profile: 'cpuprofile', heap_snapshot: 'heapsnapshot' }
const FILE_NAME = /^dump-\d{1,16}-[0-9a-f]{16}\.(?:cpuprofile|heapsnapshot)$/

/** Limits of the folder. The oldest files are deleted. */
export const MAX_FILES = 10
export const MAX_FILE_BYTES = 2 * 1024 ** 3

/** File of a dump. Stored on the machine that captured the dump, not in the database. */
export const DumpFile = r.object({
  kind: r.oneOf(FILE_KINDS),
  name: r.text,
  size_bytes: r.integer,
  hostname: r.text,
})
export type DumpFile = v.InferOutput<typeof DumpFile>

type FolderContext = Pick<Context, 'config' | 'spool'>

/** Returns a dedicated folder, because the configured one can contain other files. */
export function dumpFolder({ config, spool }: FolderContext): string {
  const { diagnostic_dump_path } = readOptions(config, dumpOptions)
  return diagnostic_dump_path
    ? resolve(config.project_root, diagnostic_dump_path, 'faultboard-dumps')
    : `${spool.folder}-dumps`
}

/** Writes a file under a unique name, atomically. */
export async function storeFile(
  context: Pick<Context, 'config' | 'spool' | 'now'>,
  kind: FileKind,
  write: (path: string) => Promise<void>,
): Promise<DumpFile> {
  const folder = await openFolder(context)
  const name = `dump-${context.now()}-${randomBytes(8).toString('hex')}.${EXTENSIONS[kind]}`
  const temporaryPath = join(folder, `${name}.tmp`)
  try {
    await write(temporaryPath)
    await chmod(temporaryPath, 0o600)
    await rename(temporaryPath, join(folder, name))
  } catch (error) {
    await rm(temporaryPath, { force: true })
    throw error
  }
  const { size } = await lstat(join(folder, name))
  await deleteOldFiles(folder, name)
  return { kind, name, size_bytes: size, hostname: hostname() }
}

/** Returns the path and size of a file, or null if it is not on this machine. */
export async function findFile(
  context: FolderContext,
  { name }: DumpFile,
): Promise<{ path: string; bytes: number } | null> {
  if (!FILE_NAME.test(name) || !(await isPrivateFolder(dumpFolder(context)))) return null
  const path = join(dumpFolder(context), name)
  const entry = await lstat(path).catch(() => null)
  return entry?.isFile() ? { path, bytes: entry.size } : null
}

const CHUNK_BYTES = 65_536

/** Opens the file when the first chunk is read, so that a HEAD request does not open it. */
export function streamFile(path: string): ReadableStream<Uint8Array> {
  let file: FileHandle | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Does not follow a symbolic link that replaced the file.
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

/** Deletes files on this machine. Other machines delete their files when the limits are reached. */
export async function removeFiles(context: FolderContext, files: readonly DumpFile[]): Promise<void> {
  for (const { name } of files) {
    if (FILE_NAME.test(name)) await rm(join(dumpFolder(context), name), { force: true })
  }
}

async function openFolder(context: FolderContext): Promise<string> {
  const folder = dumpFolder(context)
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(folder, { mode: 0o700 }).catch(ignoreExisting)
    if (!(await isPrivateFolder(folder))) throw new Error('it belongs to another user or other users can access it')
    return folder
  } catch (cause) {
    throw new TrackerError(
      'not_possible_now',
      `Cannot use the folder for dump files (${(cause as Error).message}). Set diagnostic_dump_path to a folder that this process can write to.`,
      { cause },
    )
  }
}

/** Needed because the folder can be in a temporary directory that other users can write to. */
async function isPrivateFolder(folder: string): Promise<boolean> {
  const entry = await lstat(folder).catch(() => null)
  if (!entry?.isDirectory()) return false
  return !process.getuid || (entry.uid === process.getuid() && (entry.mode & GROUP_AND_OTHERS) === 0)
}

const GROUP_AND_OTHERS = 0o077

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** Deletes the oldest files above the limits, but never the newest. */
async function deleteOldFiles(folder: string, newest: string): Promise<void> {
  const names = (await readdir(folder))
    .filter((name) => FILE_NAME.test(name) && name !== newest)
    .sort(byTime)
    .reverse()
  let bytes = (await lstat(join(folder, newest))).size
  let count = 1
  for (const name of names) {
    const entry = await lstat(join(folder, name)).catch(() => null)
    bytes += entry?.size ?? 0
    if (++count > MAX_FILES || bytes > MAX_FILE_BYTES) await rm(join(folder, name), { force: true })
  }
  const temporary = (await readdir(folder)).filter((name) => name.endsWith('.tmp') && FILE_NAME.test(name.slice(0, -4)))
  // Temporary files of this age were left by a process that stopped.
  for (const name of temporary.filter((name) => createdAt(newest) - createdAt(name) > ABANDONED_AFTER_MS)) {
    await rm(join(folder, name), { force: true })
  }
}

const ABANDONED_AFTER_MS = 3_600_000

function createdAt(name: string): number {
  return Number(name.split('-')[1])
}

function byTime(a: string, b: string): number {
  return createdAt(a) - createdAt(b)
}

import { createHash } from 'node:crypto'
import { sourceText } from '../source-files.js'
import type { Repository } from './repository.js'
import { runGit } from './run-git.js'

const MAX_BYTES = 1_048_576

/** Returns the full hash of a commit in this repository, or null. Passes only hexadecimal digits to git. */
export async function resolveCommit({ folder }: Repository, sha: string): Promise<string | null> {
  if (!isCommitHash(sha)) return null
  try {
    const found = await runGit(folder, 'rev-parse', '--verify', '--quiet', `${sha.toLowerCase()}^{commit}`)
    return /^[\da-f]{40,64}$/.exec(found.toString().trim())?.[0] ?? null
  } catch {
    // A commit from another repository, or missing in a shallow clone.
    return null
  }
}

export function isCommitHash(sha: string | null): sha is string {
  return sha !== null && /^[\da-f]{7,40}$/i.test(sha)
}

/** Regular file in a commit. */
export interface CommitFile {
  blob: string
  size: number
}

/** Finds a file in a commit. Null if it does not exist or is a link, folder or submodule. */
export async function fileInCommit({ folder }: Repository, commit: string, path: string): Promise<CommitFile | null> {
  const output = (await runGit(folder, 'ls-tree', '-z', '-l', '--full-tree', commit, '--', path)).toString()
  const match = /^(\d+) blob ([\da-f]+) +(\d+)\t/.exec(output)
  const [head = '', mode = '', blob = '', size = ''] = match ?? []
  if (!mode.startsWith('100') || output !== `${head}${path}\0`) return null
  return { blob, size: Number(size) }
}

/** Reads the text of a file. Applies the same limits as for files on disk. */
export async function textInCommit({ folder }: Repository, { blob, size }: CommitFile): Promise<string | null> {
  return size > MAX_BYTES ? null : sourceText(await runGit(folder, 'cat-file', 'blob', blob))
}

/** Checks whether bytes have the hash of a blob. */
export function isBlob(bytes: Buffer, { blob }: CommitFile): boolean {
  const algorithm = blob.length === 64 ? 'sha256' : 'sha1'
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === blob
}
